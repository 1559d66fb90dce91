// SPDX-License-Identifier: Apache-2.0
// Bytes as the specification of Thrift's compact protocol gives them.
#include "epilogue/parquet/thrift_writer.h"

#include <gtest/gtest.h>

namespace epi::parquet {
namespace {

using namespace std::string_literals;

TEST(ThriftWriter, WritesZigzagNumbersAndFieldDifferences) {
  ThriftWriter writer;
  writer.i32(1, -1);
  writer.i64(3, 300);
  writer.text(20, "ab");  // too far for a difference: the id follows
  EXPECT_EQ(writer.take(),
            "\x15\x01\x26\xD8\x04\x08\x28\x02"
            "ab\0"s);
}

TEST(ThriftWriter, WritesNestedStructuresAndLists) {
  ThriftWriter writer;
  writer.begin_list(2, ThriftWriter::Element::kStruct, 1);
  writer.begin_element();
  writer.i32(1, 2);
  writer.end_struct();
  writer.begin_list(3, ThriftWriter::Element::kI32, 16);  // longer than four bits
  for (int i = 0; i < 16; ++i) writer.element_i32(i);
  const std::string bytes = writer.take();
  EXPECT_EQ(bytes.substr(0, 8), "\x29\x1C\x15\x04\0\x19\xF5\x10"s);
  EXPECT_EQ(bytes.size(), 8U + 16 + 1);
}

}  // namespace
}  // namespace epi::parquet
