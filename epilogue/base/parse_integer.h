// SPDX-License-Identifier: Apache-2.0
// Decimal integers in text.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace epi {

// All of the text as an integer, "-12"; none for anything else. `overflows` is set where it is one
// that does not fit.
inline std::optional<int64_t> parse_integer(std::string_view text, bool* overflows = nullptr) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `end` is its end
  const auto parsed = std::from_chars(text.data(), end, value);
  if (overflows != nullptr) {
    *overflows = parsed.ec == std::errc::result_out_of_range && parsed.ptr == end;
  }
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

}  // namespace epi
