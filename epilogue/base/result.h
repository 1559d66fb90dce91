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

// Returns the failure of a result, a variable or a call, from the function around it:
// `EPI_TRY(file);` or `EPI_TRY(file.write(text));`.
#define EPI_TRY(result)                                         \
  do {                                                          \
    if (auto&& epi_tried = (result); !epi_tried) {              \
      return tl::unexpected<::epi::Failure>(epi_tried.error()); \
    }                                                           \
  } while (false)
