// SPDX-License-Identifier: Apache-2.0
// A C++ function's name as compilers print it, taken apart once from left to right: its scope, its
// last name, and its template arguments. Nothing is copied.
#pragma once

#include <array>
#include <string_view>

namespace epi::analysis::names {

struct CppName {
  std::string_view scope;  // "at::native::(anonymous namespace)"; empty for none
  std::string_view base;   // "vectorized_elementwise_kernel"
  static constexpr size_t kMaxArgs = 12;
  std::array<std::string_view, kMaxArgs> args{};  // those beyond are dropped
  size_t arg_count = 0;
  std::string_view params{};  // what follows the template arguments: "(int, float*)"

  // Empty where there are fewer.
  std::string_view arg(size_t place) const {
    return place < arg_count ? args[place] : std::string_view();
  }
};

// Reads "void at::native::f<8, T>(int)"; names that are cut off give what is there.
CppName read_cpp_name(std::string_view text);

// The parameters of the last lambda in a text: "c10::Half" of "...::{lambda(c10::Half)#1}"; empty
// where there is none.
std::string_view last_lambda_params(std::string_view text);

}  // namespace epi::analysis::names
