// SPDX-License-Identifier: Apache-2.0
// A value or a failure, for operations that depend on external resources: files, drivers, packages.
#pragma once

#include <fmt/format.h>

#include <string>
#include <tl/expected.hpp>
#include <type_traits>
#include <utility>

namespace epi {

// An external failure, described in one line that names the file, the position and the violated
// rule.
struct Failure {
  std::string message;
};

// Can be moved but not copied: tl::expected copies in noexcept functions, which end the process if
// memory runs out.
template <typename T>
class [[nodiscard]] Result : public tl::expected<T, Failure> {
  static_assert(std::is_void_v<T> || std::is_nothrow_move_constructible_v<T>);

 public:
  using tl::expected<T, Failure>::expected;
  Result() = default;
  Result(Result&&) = default;
  Result& operator=(Result&&) = default;
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  template <typename U>
  Result(const Result<U>&) = delete;
};

// `return failure("{}: byte {}: {}", path, offset, rule);`
template <typename... Ts>
tl::unexpected<Failure> failure(fmt::format_string<Ts...> format, Ts&&... values) {
  return tl::unexpected<Failure>(Failure{fmt::format(format, std::forward<Ts>(values)...)});
}

}  // namespace epi

// If `result` (a variable or a call) holds a failure, returns that failure from the enclosing
// function: `EPI_TRY(file);` or `EPI_TRY(file.write(text));`.
#define EPI_TRY(result)                                           \
  do {                                                            \
    if (auto&& epi_tried = (result); !epi_tried) {                \
      return tl::unexpected<::epi::Failure>(                      \
          static_cast<decltype(epi_tried)&&>(epi_tried).error()); \
    }                                                             \
  } while (false)
