// SPDX-License-Identifier: Apache-2.0
// Values or failures, for what depends on the world outside: files, drivers, packages.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace epi {

// What went wrong outside, in one line that names the file, the place and the rule.
struct Failure {
  std::string message;
};

template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Failure> {
 public:
  using tl::expected<T, Failure>::expected;
};

// `return failure("{}: byte {}: {}", path, offset, rule);`
template <typename... Ts>
tl::unexpected<Failure> failure(fmt::format_string<Ts...> format, Ts&&... values) {
  return tl::unexpected<Failure>(Failure{fmt::format(format, std::forward<Ts>(values)...)});
}

}  // namespace epi
