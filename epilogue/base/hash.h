// SPDX-License-Identifier: Apache-2.0
// SHA-256 of bytes, for names by content and for checking that bytes are what they were.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace epi {

// 64 hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);

}  // namespace epi
