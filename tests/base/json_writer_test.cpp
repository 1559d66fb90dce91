// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace epi {
namespace {

TEST(JsonWriter, SeparatesValuesWithCommas) {
  JsonWriter json;
  json.begin_object().key("a").integer(1).key("b").begin_array().boolean(true).null().end_array();
  json.key("c").begin_object().end_object().end_object();
  EXPECT_EQ(json.text(), R"({"a": 1, "b": [true, null], "c": {}})");
}

TEST(JsonWriter, EscapesQuotesBackslashesAndControlBytes) {
  EXPECT_EQ(json_quoted("a\"b\\c\n\t\r\x01"), R"("a\"b\\c\n\t\r\u0001")");
}

TEST(JsonWriter, ReplacesInvalidUtf8) {
  EXPECT_EQ(json_quoted("µ €"), "\"µ €\"");
  EXPECT_EQ(json_quoted("\xF0\x9F\x98\x80"), "\"\xF0\x9F\x98\x80\"");
  EXPECT_EQ(json_quoted("a\xFFz"), "\"a\xEF\xBF\xBDz\"");
  EXPECT_EQ(json_quoted("\xC0\x80"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");      // overlong
  EXPECT_EQ(json_quoted("\xED\xA0\x80").find('\xED'), std::string::npos);  // surrogate
  EXPECT_EQ(json_quoted("\xE2\x82"), "\"\xEF\xBF\xBD\xEF\xBF\xBD\"");      // cut short
}

TEST(JsonWriter, WritesNonFiniteNumbersAsNull) {
  JsonWriter json;
  json.begin_array().fixed(1.5, 3).fixed(std::numeric_limits<double>::infinity(), 3).end_array();
  EXPECT_EQ(json.text(), "[1.500, null]");
}

}  // namespace
}  // namespace epi
