// SPDX-License-Identifier: Apache-2.0
// Parses numbers in JSON text, plain or quoted. Times never pass through a double, which cannot
// represent the nanoseconds since 1970 exactly.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace epi::trace {

// An integer: `44`, `-1`, `"44"`. nullopt for anything else, including integers that do not fit
// into 64 bits.
std::optional<int64_t> parse_integer_token(std::string_view token);

// Converts microseconds to nanoseconds: `349.462`, `12`, `"12.5"`, `1.5e3`. Digits below one
// nanosecond are truncated.
std::optional<int64_t> parse_us_as_ns(std::string_view token);

}  // namespace epi::trace
