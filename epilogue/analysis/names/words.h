// SPDX-License-Identifier: Apache-2.0
// Parts of names: words between separators, numbers, sizes such as 128x64, types.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "epilogue/analysis/names/decoded_name.h"

namespace epi::analysis::names {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Iterates over the words between underscores.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}
  // The next word. None at the end.
  std::optional<std::string_view> next();
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

// The whole text as a number of at most seven digits.
std::optional<int> number(std::string_view text);
// The number after a prefix: "stage3", "align8".
std::optional<int> number_after(std::string_view text, std::string_view prefix);

// Sizes joined by x: "128x64", "16x8x16".
struct Sizes {
  std::array<int, 3> values{};
  int count = 0;
};
std::optional<Sizes> sizes(std::string_view text);
std::optional<Sizes> sizes_after(std::string_view text, std::string_view prefix);

// The layout of a word, in any case: "tn" for "tn" and "TNT". Empty if the word is not a layout.
std::string layout(std::string_view word);

// A type by the names that libraries give it: "bf16", "fp16", "f32", "e4m3", "s8".
NumberType number_type(std::string_view word);
// A type by BLAS's letter: s, d, h, c, z, i. Also cuBLAS's t (bf16), q and r (8 bits), o (4 bits).
NumberType blas_type(char letter);
// A type as C++ spells it: "c10::BFloat16", "__half", "float const*".
NumberType cpp_type(std::string_view text);

// Appends the activations and biases that a word names, in order of application: "gelubias" appends
// "bias" and "gelu". Appends nothing if any part of the word is something else.
void add_epilogue(std::string_view word, std::vector<std::string>& epilogue);

// "AllReduce" becomes "all_reduce", "GELU" becomes "gelu".
std::string snake_case(std::string_view text);

// "90" becomes "sm90".
std::string sm(std::string_view digits);

}  // namespace epi::analysis::names
