// SPDX-License-Identifier: Apache-2.0
// The values of data pages, as Parquet encodes them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace epi::parquet {

// Appends numbers of `bits` bits each in the hybrid of run lengths and bit packing: one run if all
// are equal, else packed. `bits` is at most 32.
void append_hybrid(std::string& out, std::span<const uint32_t> values, int bits);

// The number of bits for values up to `max`.
int bits_for(uint32_t max);

// Definition levels: 1 for a value, 0 for a null, after their size in bytes.
void append_levels(std::string& out, std::span<const uint8_t> is_present);

// Little-endian, 4 and 8 bytes.
void append_u32(std::string& out, uint32_t value);
void append_i64(std::string& out, int64_t value);

// With U+FFFD for each byte that is not UTF-8. Counts them.
std::string valid_utf8(std::string_view text, int64_t& replaced);

}  // namespace epi::parquet
