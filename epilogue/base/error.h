// SPDX-License-Identifier: Apache-2.0
// The two kinds of failure that throw or stop: a caller's mistake (`Error`) and our own bug
// (`EPI_CHECK`). Failures of the world outside (files, drivers, packages) are values: see result.h.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace epi {

// A caller's mistake. The message names the op, the rule and the numbers: "[mm] inner sizes differ:
// ...".
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Our own bug: no input can reach it. The tool exits with 3 when it sees one.
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
