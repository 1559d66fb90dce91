// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/names/instruction.h"

#include "epilogue/analysis/names/words.h"

namespace epi::analysis::names {
namespace {

struct Suffix {
  std::string_view text;
  Kind kind;
};
constexpr Suffix kSuffixes[] = {{"gemm", Kind::kGemm},  {"cudnn", Kind::kConv},
                                {"fprop", Kind::kConv}, {"dgrad", Kind::kConv},
                                {"wgrad", Kind::kConv}, {"gemv", Kind::kGemv}};

// The operand type if the word does not give it: TF32 for m16n8k8 and m16n8k4 with f32
// accumulation, else f64 or f16 from the accumulator.
NumberType implied_type(char accumulate, std::string_view shape) {
  if (accumulate == 's' && (shape == "1688" || shape == "1684")) return NumberType::kTf32;
  if (accumulate == 'd') return NumberType::kF64;
  if (accumulate == 'h') return NumberType::kF16;
  return NumberType::kUnknown;
}

}  // namespace

std::optional<Instruction> read_instruction(std::string_view word) {
  for (const Suffix& suffix : kSuffixes) {
    if (!word.ends_with(suffix.text)) continue;
    std::string_view rest = word.substr(0, word.size() - suffix.text.size());
    if (rest.empty()) return std::nullopt;
    if (rest.starts_with("gc")) rest.remove_prefix(1);  // "gcgemm": complex, as three GEMMs
    Instruction result;
    result.kind = suffix.kind;
    result.accumulate = blas_type(rest.front());
    if (result.accumulate == NumberType::kUnknown) return std::nullopt;
    size_t digits = 1;
    while (digits < rest.size() && (is_digit(rest[digits]) || rest[digits] == 'x')) ++digits;
    const std::string_view shape = rest.substr(1, digits - 1);
    result.tensor_cores = !shape.empty();
    result.type = number_type(rest.substr(digits));
    if (digits < rest.size() && result.type == NumberType::kUnknown) return std::nullopt;
    if (result.type == NumberType::kUnknown) {
      result.type = shape.empty() ? result.accumulate : implied_type(rest.front(), shape);
    }
    return result;
  }
  return std::nullopt;
}

}  // namespace epi::analysis::names
