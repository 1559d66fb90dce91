// SPDX-License-Identifier: Apache-2.0
#include "epilogue/parquet/page_values.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "epilogue/base/utf8.h"

namespace epi::parquet {
namespace {

constexpr uint32_t kReplacement = 0xFFFD;

void append_varint(std::string& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void append_bytes(std::string& out, uint64_t value, int count) {
  for (int i = 0; i < count; ++i) out += static_cast<char>(value >> (8 * i));
}

}  // namespace

void append_u32(std::string& out, uint32_t value) { append_bytes(out, value, 4); }
void append_i64(std::string& out, int64_t value) {
  append_bytes(out, static_cast<uint64_t>(value), 8);
}

int bits_for(uint32_t max) { return std::bit_width(max); }

void append_hybrid(std::string& out, std::span<const uint32_t> values, int bits) {
  if (values.empty()) return;
  const bool all_equal =
      std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
  if (all_equal) {
    append_varint(out, values.size() << 1);
    append_bytes(out, values.front(), (bits + 7) / 8);
    return;
  }
  // Groups of eight values, padded with zeros.
  const size_t groups = (values.size() + 7) / 8;
  append_varint(out, groups << 1 | 1);
  uint64_t pending = 0;
  int pending_bits = 0;
  for (size_t i = 0; i < groups * 8; ++i) {
    const uint64_t value = i < values.size() ? values[i] : 0;
    pending |= value << pending_bits;
    pending_bits += bits;
    for (; pending_bits >= 8; pending_bits -= 8, pending >>= 8) {
      out += static_cast<char>(pending);
    }
  }
}

void append_levels(std::string& out, std::span<const uint8_t> is_present) {
  std::string levels;
  append_hybrid(levels, std::vector<uint32_t>(is_present.begin(), is_present.end()), 1);
  append_u32(out, static_cast<uint32_t>(levels.size()));
  out += levels;
}

std::string valid_utf8(std::string_view text, int64_t& replaced) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length > 0) {
      out += text.substr(0, length);
    } else {
      append_utf8(out, kReplacement);
      ++replaced;
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

}  // namespace epi::parquet
