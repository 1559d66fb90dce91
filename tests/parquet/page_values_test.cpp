// SPDX-License-Identifier: Apache-2.0
#include "epilogue/parquet/page_values.h"

#include <gtest/gtest.h>

#include <vector>

namespace epi::parquet {
namespace {

using namespace std::string_literals;

std::string hybrid(const std::vector<uint32_t>& values, int bits) {
  std::string out;
  append_hybrid(out, values, bits);
  return out;
}

TEST(PageValues, EqualNumbersAreOneRun) {
  EXPECT_EQ(hybrid({5, 5, 5}, 3), "\x06\x05"s);
  EXPECT_EQ(hybrid(std::vector<uint32_t>(100, 300), 9), "\xC8\x01\x2C\x01"s);
  EXPECT_EQ(hybrid({}, 3), "");
}

// The example of the specification: 0 to 7 in 3 bits.
TEST(PageValues, OtherNumbersArePacked) {
  EXPECT_EQ(hybrid({0, 1, 2, 3, 4, 5, 6, 7}, 3), "\x03\x88\xC6\xFA"s);
  EXPECT_EQ(hybrid({1, 0, 1}, 1), "\x03\x05"s);  // padded to eight
}

TEST(PageValues, LevelsFollowTheirSize) {
  std::string out;
  append_levels(out, std::vector<uint8_t>{1, 1, 1, 1});
  EXPECT_EQ(out, "\x02\0\0\0\x08\x01"s);
}

TEST(PageValues, CountsBitsOfTheLargestNumber) {
  EXPECT_EQ(bits_for(0), 0);
  EXPECT_EQ(bits_for(1), 1);
  EXPECT_EQ(bits_for(255), 8);
  EXPECT_EQ(bits_for(256), 9);
}

TEST(PageValues, ReplacesInvalidUtf8) {
  int64_t replaced = 0;
  EXPECT_EQ(valid_utf8("a\xFF\xC3\xA9\xE2\x82", replaced),
            "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(replaced, 3);
}

}  // namespace
}  // namespace epi::parquet
