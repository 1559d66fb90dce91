// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/json_text.h"

#include <gtest/gtest.h>

#include "epilogue/trace/event_args.h"

namespace epi::trace {
namespace {

std::string unescaped(std::string_view raw) {
  std::string out;
  unescape(raw, out);
  return out;
}

TEST(Unescape, DecodesJsonEscapes) {
  EXPECT_EQ(unescaped(R"(a\"b\\c\/d\n\t\r\b\f)"), "a\"b\\c/d\n\t\r\b\f");
  EXPECT_EQ(unescaped(R"(\u0041\u00e9\u20ac)"), "A\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(unescaped(R"(\ud83d\ude00)"), "\xF0\x9F\x98\x80");
}

TEST(Unescape, KeepsInvalidEscapes) {
  std::string out;
  EXPECT_TRUE(unescape(R"(C:\dir\x)", out).bad_escape);
  EXPECT_EQ(out, R"(C:\dir\x)");
  EXPECT_EQ(unescaped(R"(\u12)"), R"(\u12)");
  EXPECT_EQ(unescaped("\\"), "\\");
  EXPECT_EQ(unescaped(R"(\ud83d!)"), "\xEF\xBF\xBD!");
}

TEST(Unescape, ReplacesInvalidUtf8) {
  std::string out;
  EXPECT_TRUE(unescape("a\xD6\x07\xC4z", out).invalid_utf8);
  EXPECT_EQ(out, "a\xEF\xBF\xBD\x07\xEF\xBF\xBDz");
}

TEST(FindTopLevel, AgreesWithFindValue) {
  const std::string_view objects[] = {R"({"External id": 7, "correlation": 44})",
                                      R"({ "correlation" : 44 , "x": [1, 2]})",
                                      R"({"a": "\"correlation\": 5", "correlation": 44})",
                                      R"({"occupancy": {"correlation": 5}, "correlation": 44})",
                                      R"({"list": ["correlation", 5], "correlation": 44})",
                                      R"({"correlation": "44"})",
                                      R"({"x": 1})",
                                      R"({})",
                                      R"()",
                                      R"({"correlation")"};
  for (const std::string_view object : objects) {
    EXPECT_EQ(find_top_level(object, "\"correlation\""), find_value(object, "correlation"))
        << object;
  }
}

}  // namespace
}  // namespace epi::trace
