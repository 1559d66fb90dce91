// SPDX-License-Identifier: Apache-2.0
// The two kinds of failure that throw: a caller's mistake (`Error`) and a bug in Epilogue
// (`EPI_CHECK`). External failures (files, drivers, packages) are returned as values, see result.h.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace epi {

// A caller's mistake. The message names the op, the violated rule and the values: "[mm] inner sizes
// differ: ...".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A bug in Epilogue that no input can trigger. The command exits with 3.
class BugError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Throws `Error` with "[op] " in front of the formatted message.
template <typename... Ts>
[[noreturn]] void fail(std::string_view op, fmt::format_string<Ts...> format, Ts&&... values) {
  throw Error(fmt::format("[{}] {}", op, fmt::format(format, std::forward<Ts>(values)...)));
}

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace epi

#define EPI_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::epi::check_failed(#condition, __FILE__, __LINE__))
