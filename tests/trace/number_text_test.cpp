// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/number_text.h"

#include <gtest/gtest.h>

namespace epi::trace {
namespace {

TEST(ParseUs, KeepsEveryNanosecond) {
  EXPECT_EQ(parse_us_as_ns("3845890194734.724"), 3845890194734724);
  // A double cannot hold these digits: 1712195495519689.047 would become ...689.0.
  EXPECT_EQ(parse_us_as_ns("1712195495519689.047"), 1712195495519689047);
  EXPECT_EQ(parse_us_as_ns("0.001"), 1);
  EXPECT_EQ(parse_us_as_ns("349.462"), 349462);
}

TEST(ParseUs, ParsesFormatsOfOtherWriters) {
  EXPECT_EQ(parse_us_as_ns("12"), 12000);
  EXPECT_EQ(parse_us_as_ns("0"), 0);
  EXPECT_EQ(parse_us_as_ns("12.5"), 12500);
  EXPECT_EQ(parse_us_as_ns("\"12.5\""), 12500);
  EXPECT_EQ(parse_us_as_ns("12.3456789"), 12345);
  EXPECT_EQ(parse_us_as_ns("-3.25"), -3250);
  EXPECT_EQ(parse_us_as_ns("1.5e3"), 1500000);
  EXPECT_EQ(parse_us_as_ns("1.712195495519689e15"), 1712195495519689000);
  EXPECT_EQ(parse_us_as_ns("25E-1"), 2500);
  EXPECT_EQ(parse_us_as_ns("1e+2"), 100000);
}

TEST(ParseUs, RejectsNonNumbersAndOverflow) {
  for (const char* text : {"", "-", "N/A", "1.2.3", "1e", "1e99", "0x10", "\"\"", "null", ".5",
                           "99999999999999999999", "12 ", "1,5"}) {
    EXPECT_EQ(parse_us_as_ns(text), std::nullopt) << text;
  }
}

TEST(ParseInteger, ParsesPlainAndQuotedNumbers) {
  EXPECT_EQ(parse_integer_token("44"), 44);
  EXPECT_EQ(parse_integer_token("\"25738\""), 25738);
  EXPECT_EQ(parse_integer_token("-1"), -1);
  EXPECT_EQ(parse_integer_token("9223372036854775807"), INT64_MAX);
  for (const char* text : {"", "9223372036854775808", "\"stream 7\"", "1.5", "inf"}) {
    EXPECT_EQ(parse_integer_token(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace epi::trace
