// SPDX-License-Identifier: Apache-2.0
#include "epilogue/parquet/thrift_writer.h"

namespace epi::parquet {
namespace {

constexpr uint8_t kI32 = 5;
constexpr uint8_t kI64 = 6;
constexpr uint8_t kBinary = 8;
constexpr uint8_t kList = 9;
constexpr uint8_t kStruct = 12;
constexpr size_t kLongList = 15;  // longer lists have their size as a varint

}  // namespace

void ThriftWriter::varint(uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
  bytes_ += static_cast<char>(value);
}

void ThriftWriter::zigzag(int64_t value) {
  varint(static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}

// The difference to the last id, if it fits into four bits.
void ThriftWriter::header(int16_t id, uint8_t type) {
  const int difference = id - last_ids_.back();
  if (difference >= 1 && difference <= 15) {
    bytes_ += static_cast<char>(difference << 4 | type);
  } else {
    bytes_ += static_cast<char>(type);
    zigzag(id);
  }
  last_ids_.back() = id;
}

void ThriftWriter::i32(int16_t id, int32_t value) {
  header(id, kI32);
  zigzag(value);
}

void ThriftWriter::i64(int16_t id, int64_t value) {
  header(id, kI64);
  zigzag(value);
}

void ThriftWriter::text(int16_t id, std::string_view value) {
  header(id, kBinary);
  element_text(value);
}

void ThriftWriter::begin_struct(int16_t id) {
  header(id, kStruct);
  begin_element();
}

void ThriftWriter::end_struct() {
  bytes_ += '\0';
  last_ids_.pop_back();
}

void ThriftWriter::begin_list(int16_t id, Element type, size_t size) {
  header(id, kList);
  const auto kind = static_cast<uint8_t>(type);
  if (size < kLongList) {
    bytes_ += static_cast<char>(size << 4 | kind);
  } else {
    bytes_ += static_cast<char>(0xF0 | kind);
    varint(size);
  }
}

void ThriftWriter::element_i32(int32_t value) { zigzag(value); }

void ThriftWriter::element_text(std::string_view value) {
  varint(value.size());
  bytes_ += value;
}

std::string ThriftWriter::take() {
  end_struct();
  return std::move(bytes_);
}

}  // namespace epi::parquet
