// SPDX-License-Identifier: Apache-2.0
// Numbers in names, addresses and headers.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace epi::hub {

// All of the text as a number from 0, in the one form it has: no sign, no zeros in front.
inline std::optional<int64_t> whole_number(std::string_view text) {
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool all = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  const bool plain = !text.empty() && text[0] != '-' && (text[0] != '0' || text.size() == 1);
  return all && plain ? std::optional(value) : std::nullopt;
}

}  // namespace epi::hub
