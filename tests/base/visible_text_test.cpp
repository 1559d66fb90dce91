// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/visible_text.h"

#include <gtest/gtest.h>

#include "epilogue/base/json_writer.h"

namespace epi {
namespace {

std::string line_of(std::string_view text) { return visible_text(text, LineBreaks::kReplace); }

TEST(VisibleText, KeepsTextInAnyLanguage) {
  for (const char* text : {"", "plain", "µs × 3", "核函数", "ядро", "🚀 kernel"}) {
    EXPECT_EQ(line_of(text), text);
  }
}

TEST(VisibleText, ShowsControlCharacters) {
  EXPECT_EQ(line_of("\x1b]52;c;aGk=\x07"), "\\x1b]52;c;aGk=\\x07");  // sets the clipboard
  EXPECT_EQ(line_of("a\r\x7f"), "a\\x0d\\x7f");
  EXPECT_EQ(line_of("\xC2\x9B"
                    "31m"),
            "\\u009b31m");  // CSI as a C1 character
  EXPECT_EQ(line_of(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(VisibleText, ShowsBidirectionalControls) {
  EXPECT_EQ(line_of("a\u202Eb\u2066c\u200Fd\u061Ce"), "a\\u202eb\\u2066c\\u200fd\\u061ce");
  EXPECT_EQ(line_of("a\u2028b"), "a\\u2028b");
}

TEST(VisibleText, ShowsBytesThatAreNotUtf8) {
  EXPECT_EQ(line_of("a\xFF\xC2"), "a\\xff\\xc2");
  EXPECT_EQ(line_of("\x9B"
                    "31m"),
            "\\x9b31m");                                  // CSI in an 8-bit terminal
  EXPECT_EQ(line_of("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // a surrogate
}

TEST(VisibleText, KeepsLineBreaksOnlyWhereTheyBelong) {
  EXPECT_EQ(visible_text("a\n\tb", LineBreaks::kKeep), "a\n\tb");
  EXPECT_EQ(line_of("a\n\tb"), "a\\n\\tb");
}

TEST(VisibleText, JsonEscapesTheSameCharacters) {
  EXPECT_EQ(json_quoted("a\x1b\x7f\u009b\u202E\n"), R"("a\u001b\u007f\u009b\u202e\n")");
  EXPECT_EQ(json_quoted("核"), "\"核\"");
}

}  // namespace
}  // namespace epi
