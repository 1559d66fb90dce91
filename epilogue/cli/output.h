// SPDX-License-Identifier: Apache-2.0
// Everything that the tool prints passes through here. Control characters of names in traces,
// packages and files never reach the terminal: they are shown as "\x1b".
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace epi::cli {

// A failure to write is reported once, by `finish_output`.
void write_output(std::string_view text);
// Standard error may be closed or full: that must not change what the tool does.
void write_error(std::string_view text);

// Prints text to standard output.
template <typename... Ts>
void print_out(fmt::format_string<Ts...> format, Ts&&... values) {
  write_output(fmt::format(format, std::forward<Ts>(values)...));
}

// Prints text to standard error.
template <typename... Ts>
void print_error(fmt::format_string<Ts...> format, Ts&&... values) {
  write_error(fmt::format(format, std::forward<Ts>(values)...));
}

// Opens the standard streams that are closed, so that no file of the tool takes their place. Writes
// to a closed standard output fail; what is written to a closed standard error is lost.
void open_closed_streams();

// False if not everything was written to standard output.
bool finish_output();

}  // namespace epi::cli
