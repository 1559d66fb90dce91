// SPDX-License-Identifier: Apache-2.0
// Parses decimal integers.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace epi {

// Parses the entire text as an integer, such as "-12". Returns nullopt otherwise, and sets
// `overflows` if the text is an integer that does not fit into 64 bits.
inline std::optional<int64_t> parse_integer(std::string_view text, bool* overflows = nullptr) {
  int64_t value = 0;
  const char* end = text.data() + text.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `end` bounds the read
  const auto parsed = std::from_chars(text.data(), end, value);
  if (overflows != nullptr) {
    *overflows = parsed.ec == std::errc::result_out_of_range && parsed.ptr == end;
  }
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

}  // namespace epi
