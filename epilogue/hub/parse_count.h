// SPDX-License-Identifier: Apache-2.0
// Parses numbers in names, addresses and headers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "epilogue/base/parse_integer.h"

namespace epi::hub {

// Parses the whole text as a non-negative integer without a sign or leading zeros.
inline std::optional<int64_t> parse_count(std::string_view text) {
  const bool plain = !text.empty() && text[0] != '-' && (text[0] != '0' || text.size() == 1);
  return plain ? parse_integer(text) : std::nullopt;
}

}  // namespace epi::hub
