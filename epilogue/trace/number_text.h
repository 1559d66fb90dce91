// SPDX-License-Identifier: Apache-2.0
// Numbers as files write them: plain, or as a string. Times never pass through a double, which
// cannot hold the nanoseconds of this century.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace epi::trace {

// A whole number: `44`, `-1`, `"44"`. None for everything else, also for what does not fit.
std::optional<int64_t> integer_of(std::string_view token);

// Microseconds as nanoseconds: `349.462`, `12`, `"12.5"`, `1.5e3`. Digits beyond the nanosecond are
// cut.
std::optional<int64_t> parse_us_as_ns(std::string_view token);

}  // namespace epi::trace
