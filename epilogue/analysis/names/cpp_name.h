// SPDX-License-Identifier: Apache-2.0
// A C++ function's name as compilers print it, split in one pass from left to right: scope, base
// name, template arguments. Copies nothing.
#pragma once

#include <array>
#include <string_view>

namespace epi::analysis::names {

struct CppName {
  std::string_view scope;  // "at::native::(anonymous namespace)"; empty for none
  std::string_view base;   // "vectorized_elementwise_kernel"
  static constexpr size_t kMaxArgs = 12;
  std::array<std::string_view, kMaxArgs> args{};  // further ones are dropped
  size_t arg_count = 0;
  std::string_view params{};  // what follows the template arguments: "(int, float*)"

  // Empty if there are fewer arguments.
  std::string_view arg(size_t place) const {
    return place < arg_count ? args[place] : std::string_view();
  }
};

// Parses "void at::native::f<8, T>(int)". A truncated name gives the part that is there.
CppName read_cpp_name(std::string_view text);

// The parameters of the last lambda in a text: "c10::Half" for "...::{lambda(c10::Half)#1}". Empty
// if there is none.
std::string_view last_lambda_params(std::string_view text);

}  // namespace epi::analysis::names
