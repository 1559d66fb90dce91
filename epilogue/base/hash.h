// SPDX-License-Identifier: Apache-2.0
// SHA-256 and HMAC, for content-addressed names and integrity checks.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace epi {

// 64 hexadecimal digits.
std::string sha256(std::span<const std::byte> bytes);
std::string sha256(std::string_view text);

// HMAC-SHA-256: a hash that only somebody who knows `key` can compute. 64 hexadecimal digits.
std::string hmac_sha256(std::span<const std::byte> key, std::string_view text);

}  // namespace epi
