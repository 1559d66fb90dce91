// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/names/words.h"

#include <algorithm>
#include <utility>

namespace epi::analysis::names {
namespace {

// In order of application, whatever the order in the name.
constexpr std::string_view kEpilogueWords[] = {"bias", "add",  "dgelu", "drelu", "gelu",
                                               "relu", "silu", "aux",   "bgrad"};

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), text.begin(),
                                                    [](char a, char b) { return a == lower(b); });
}

}  // namespace

std::optional<std::string_view> Words::next() {
  while (!rest_.empty() && rest_.front() == '_') rest_.remove_prefix(1);
  if (rest_.empty()) return std::nullopt;
  const std::string_view word = rest_.substr(0, rest_.find('_'));
  rest_.remove_prefix(word.size());
  return word;
}

std::optional<int> number(std::string_view text) {
  if (text.empty() || text.size() > 7) return std::nullopt;
  int value = 0;
  for (const char c : text) {
    if (!is_digit(c)) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<int> number_after(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? number(text.substr(prefix.size())) : std::nullopt;
}

std::optional<Sizes> sizes(std::string_view text) {
  Sizes result;
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  while (true) {
    const std::string_view piece = text.substr(0, text.find('x'));
    const auto value = number(piece);
    if (!value || result.count == 3) return std::nullopt;
    result.values[static_cast<size_t>(result.count++)] = *value;
    if (piece.size() == text.size()) break;
    text.remove_prefix(piece.size() + 1);
  }
  return result.count >= 2 ? std::optional(result) : std::nullopt;
}

std::optional<Sizes> sizes_after(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) ? sizes(text.substr(prefix.size())) : std::nullopt;
}

std::string layout(std::string_view word) {
  if (word.size() < 2 || word.size() > 4) return {};
  const auto is_order = [](char c) { return lower(c) == 'n' || lower(c) == 't'; };
  if (!std::all_of(word.begin(), word.end(), is_order)) return {};
  return {lower(word[0]), lower(word[1])};
}

NumberType number_type(std::string_view word) {
  constexpr size_t kMaxLength = 7;  // "fp8e4m3"
  if (word.size() < 2 || word.size() > kMaxLength) return NumberType::kUnknown;
  static constexpr std::pair<std::string_view, NumberType> kNames[] = {
      {"bf16", NumberType::kBf16},      {"f16", NumberType::kF16},
      {"fp16", NumberType::kF16},       {"half", NumberType::kF16},
      {"tf32", NumberType::kTf32},      {"f32", NumberType::kF32},
      {"fp32", NumberType::kF32},       {"float", NumberType::kF32},
      {"f64", NumberType::kF64},        {"fp64", NumberType::kF64},
      {"e4m3", NumberType::kF8e4m3},    {"f8e4m3", NumberType::kF8e4m3},
      {"e5m2", NumberType::kF8e5m2},    {"f8e5m2", NumberType::kF8e5m2},
      {"fp8e4m3", NumberType::kF8e4m3}, {"fp8e5m2", NumberType::kF8e5m2},
      {"e2m1", NumberType::kF4e2m1},    {"s8", NumberType::kS8},
      {"i8", NumberType::kS8},          {"u8", NumberType::kU8},
      {"s32", NumberType::kS32},        {"i32", NumberType::kS32},
  };
  for (const auto& [text, type] : kNames) {
    if (text == word) return type;
  }
  return NumberType::kUnknown;
}

NumberType blas_type(char letter) {
  switch (letter) {
    case 's':
      return NumberType::kF32;
    case 'd':
      return NumberType::kF64;
    case 'h':
      return NumberType::kF16;
    case 't':
      return NumberType::kBf16;
    case 'q':
      return NumberType::kF8e4m3;
    case 'r':
      return NumberType::kF8e5m2;
    case 'o':
      return NumberType::kF4e2m1;
    case 'i':
      return NumberType::kS32;
    case 'c':
      return NumberType::kC64;
    case 'z':
      return NumberType::kC128;
    default:
      return NumberType::kUnknown;
  }
}

NumberType cpp_type(std::string_view text) {
  while (!text.empty() && (text.back() == '*' || text.back() == '&' || text.back() == ' ')) {
    text.remove_suffix(1);
  }
  if (text.starts_with("const ")) text.remove_prefix(6);
  if (text.ends_with(" const")) text.remove_suffix(6);
  static constexpr std::pair<std::string_view, NumberType> kNames[] = {
      {"float", NumberType::kF32},
      {"c10::BFloat16", NumberType::kBf16},
      {"c10::Half", NumberType::kF16},
      {"__nv_bfloat16", NumberType::kBf16},
      {"__half", NumberType::kF16},
      {"double", NumberType::kF64},
      {"long", NumberType::kS64},
      {"int", NumberType::kS32},
      {"bool", NumberType::kBool},
      {"cutlass::bfloat16_t", NumberType::kBf16},
      {"cutlass::half_t", NumberType::kF16},
      {"cutlass::tfloat32_t", NumberType::kTf32},
      {"cutlass::float_e4m3_t", NumberType::kF8e4m3},
      {"cutlass::float_e5m2_t", NumberType::kF8e5m2},
      {"at::BFloat16", NumberType::kBf16},
      {"at::Half", NumberType::kF16},
      {"half", NumberType::kF16},
      {"nv_bfloat16", NumberType::kBf16},
      {"__hip_bfloat16", NumberType::kBf16},
      {"hip_bfloat16", NumberType::kBf16},
      {"_Float16", NumberType::kF16},
      {"__nv_fp8_e4m3", NumberType::kF8e4m3},
      {"__nv_fp8_e5m2", NumberType::kF8e5m2},
      {"c10::Float8_e4m3fn", NumberType::kF8e4m3},
      {"c10::Float8_e5m2", NumberType::kF8e5m2},
      {"signed char", NumberType::kS8},
      {"int8_t", NumberType::kS8},
      {"unsigned char", NumberType::kU8},
      {"short", NumberType::kS16},
      {"c10::complex<float>", NumberType::kC64},
      {"c10::complex<double>", NumberType::kC128},
      {"float2", NumberType::kC64},
      {"double2", NumberType::kC128},
  };
  if (text.empty() || is_digit(text.front())) return NumberType::kUnknown;
  for (const auto& [name, type] : kNames) {
    if (name == text) return type;
  }
  return NumberType::kUnknown;
}

void add_epilogue(std::string_view word, std::vector<std::string>& epilogue) {
  if (word.size() < 3) return;
  uint32_t found = 0;
  while (!word.empty()) {
    size_t at = 0;
    while (at < std::size(kEpilogueWords) && !starts_with_ignoring_case(word, kEpilogueWords[at])) {
      ++at;
    }
    if (at == std::size(kEpilogueWords)) return;
    found |= 1U << at;
    word.remove_prefix(kEpilogueWords[at].size());
  }
  for (size_t at = 0; at < std::size(kEpilogueWords); ++at) {
    if ((found >> at & 1U) != 0) epilogue.emplace_back(kEpilogueWords[at]);
  }
}

std::string snake_case(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool upper = c >= 'A' && c <= 'Z';
    const bool after_lower = i > 0 && text[i - 1] >= 'a' && text[i - 1] <= 'z';
    if (upper && after_lower) out += '_';
    out += upper ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

std::string sm(std::string_view digits) { return std::string("sm").append(digits); }

}  // namespace epi::analysis::names
