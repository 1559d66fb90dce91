// SPDX-License-Identifier: Apache-2.0
// A value or a failure, for operations that depend on external resources: files, drivers, packages.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace epi {

// An external failure, described in one line that names the file, the position and the violated
// rule.
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

// If `result` (a variable or a call) holds a failure, returns that failure from the enclosing
// function: `EPI_TRY(file);` or `EPI_TRY(file.write(text));`.
#define EPI_TRY(result)                                         \
  do {                                                          \
    if (auto&& epi_tried = (result); !epi_tried) {              \
      return tl::unexpected<::epi::Failure>(epi_tried.error()); \
    }                                                           \
  } while (false)
