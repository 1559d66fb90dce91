// SPDX-License-Identifier: Apache-2.0
// Writes values in Thrift's compact protocol: fields of a structure with ascending ids, numbers as
// zigzag varints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace epi::parquet {

class ThriftWriter {
 public:
  ThriftWriter() { last_ids_.push_back(0); }

  // Fields of the current structure. Parquet's enums are 32-bit integers.
  void i32(int16_t id, int32_t value);
  void i64(int16_t id, int64_t value);
  void text(int16_t id, std::string_view value);
  void begin_struct(int16_t id);
  void end_struct();

  // A list is a field. Its elements follow: `element_*`, or structures between
  // `begin_element` and `end_struct`.
  enum class Element : uint8_t { kI32 = 5, kText = 8, kStruct = 12 };
  void begin_list(int16_t id, Element type, size_t size);
  void element_i32(int32_t value);
  void element_text(std::string_view value);
  void begin_element() { last_ids_.push_back(0); }

  // Ends the outermost structure and returns all bytes.
  std::string take();

 private:
  void header(int16_t id, uint8_t type);
  void varint(uint64_t value);
  void zigzag(int64_t value);

  std::string bytes_;
  std::vector<int16_t> last_ids_;  // of each open structure
};

}  // namespace epi::parquet
