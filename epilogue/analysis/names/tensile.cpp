// SPDX-License-Identifier: Apache-2.0
// Cijk_Alik_Bljk_HHS_BH_MT128x128x64_MI32x32x8x1_..._GSU4_ISA942: GEMMs that Tensile made for
// rocBLAS and hipBLASLt. The order of indices is the layout (l is the summed one), then types,
// then settings, each a word of its own.
#include "epilogue/analysis/names/families.h"
#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

// Takes one type off the front: "H", "B", "F8", "I8"; kUnknown where there is none.
NumberType take_type(std::string_view& text) {
  struct Spelling {
    std::string_view text;
    NumberType type;
  };
  static constexpr Spelling kTypes[] = {
      {"4xi8", NumberType::kS8}, {"F8", NumberType::kF8e4m3}, {"B8", NumberType::kF8e5m2},
      {"I8", NumberType::kS8},   {"H", NumberType::kF16},     {"B", NumberType::kBf16},
      {"S", NumberType::kF32},   {"D", NumberType::kF64},     {"C", NumberType::kC64},
      {"Z", NumberType::kC128},  {"I", NumberType::kS32},     {"X", NumberType::kTf32}};
  for (const Spelling& spelling : kTypes) {
    if (!text.starts_with(spelling.text)) continue;
    text.remove_prefix(spelling.text.size());
    return spelling.type;
  }
  return NumberType::kUnknown;
}

// Three forms: "HHS" before "BH", or "B_BS" before it, is input, output and compute; "HB" and "HBH"
// in one word is a type, then flags: beta, and sums in f32 ("high precision accumulate").
void read_types(std::string_view word, std::string_view following, DecodedName& out) {
  const bool apart = following == "B" || following == "BH";
  const bool in_two = word.size() == 1 && following.size() == 2 && following[1] == 'S';
  out.dtype = take_type(word);
  if (in_two) word = following;
  if (!apart && !in_two) {
    out.output = out.dtype;
    out.accumulate = word == "BH" ? NumberType::kF32 : out.dtype;
    return;
  }
  out.output = word.empty() ? out.dtype : take_type(word);
  out.accumulate = word.empty() ? out.output : take_type(word);
}

char order(std::string_view word, std::string_view plain, std::string_view transposed) {
  if (word.starts_with(plain)) return 'n';
  return word.starts_with(transposed) ? 't' : '\0';
}

void read_setting(std::string_view word, DecodedName& out) {
  if (const auto tile = sizes_after(word, "MT")) out.tile = tile->values;
  if (word.starts_with("MI") && word.size() > 2 && is_digit(word[2])) out.tensor_cores = true;
  if (const auto parts = number_after(word, "GSU")) out.split_k = *parts > 1;
  if (word.starts_with("ISA") && word.size() > 5) {
    out.arch = std::string("gfx").append(word.substr(3));
  }
}

}  // namespace

bool read_tensile(std::string_view name, DecodedName& out) {
  if (name.starts_with("Custom_")) name.remove_prefix(7);
  if (!name.starts_with("Cijk_")) return false;
  out.library = Library::kRocblas;
  out.kind = Kind::kGemm;
  Words words(name.substr(5));
  const auto first = words.next().value_or("");
  if (!first.starts_with('A')) {  // Cijk_SB_..._PostGSU8: adds up what a split GEMM left
    out.kind = contains(name, "GSU") ? Kind::kSplitKReduce : Kind::kUnknown;
    read_types(first, "", out);
    return true;
  }
  const char a = order(first, "Ailk", "Alik");
  const char b = order(words.next().value_or(""), "Bljk", "Bjlk");
  if (a != '\0' && b != '\0') out.layout = {a, b};
  const auto types = words.next();
  auto word = words.next();
  if (types) read_types(*types, word.value_or(""), out);
  for (; word; word = words.next()) read_setting(*word, out);
  return true;
}

}  // namespace epi::analysis::names
