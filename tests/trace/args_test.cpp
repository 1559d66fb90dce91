// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/event_args.h"

#include <gtest/gtest.h>

namespace epi::trace {
namespace {

constexpr std::string_view kObject =
    R"({"External id": 7, "a \"b\"": "x, }", "Input Dims": [[1024, 32], []], "o": {"n": [1]}, "last": null })";

TEST(FindValue, ReturnsTheRawTextOfValues) {
  EXPECT_EQ(find_value(kObject, "External id"), "7");
  EXPECT_EQ(find_value(kObject, R"(a \"b\")"), "\"x, }\"");
  EXPECT_EQ(find_value(kObject, "Input Dims"), "[[1024, 32], []]");
  EXPECT_EQ(find_value(kObject, "o"), R"({"n": [1]})");
  EXPECT_EQ(find_value(kObject, "last"), "null");
}

TEST(FindValue, SearchesTheTopLevelOnly) {
  EXPECT_EQ(find_value(kObject, "n"), std::nullopt);
  EXPECT_EQ(find_value(kObject, "absent"), std::nullopt);
}

// The text of the key also occurs as a value, within a string, or as a key of a nested object.
TEST(FindValue, IgnoresTheKeyInValuesAndNestedObjects) {
  EXPECT_EQ(find_value(R"({"a": "k", "k": 1})", "k"), "1");
  EXPECT_EQ(find_value(R"({"a": "k"})", "k"), std::nullopt);
  EXPECT_EQ(find_value(R"({"a": "say \"k", "k" : 2})", "k"), "2");
  EXPECT_EQ(find_value(R"({"a\"k": 1, "k": 3})", "k"), "3");
  EXPECT_EQ(find_value(R"({"o": {"k": 1}, "k": 4})", "k"), "4");
  EXPECT_EQ(find_value(R"({"o": {"k": 1}})", "k"), std::nullopt);
  EXPECT_EQ(find_value(R"({"brace {": 1, "k": 5})", "k"), "5");
  EXPECT_EQ(find_value("{\n  \"k\"\n :\t[6]}", "k"), "[6]");
}

TEST(FindValue, TerminatesOnInvalidJson) {
  const std::string_view whole = kObject;
  for (size_t size = 0; size < whole.size(); ++size) {
    find_value(whole.substr(0, size), "absent");
    find_value(whole.substr(size), "absent");
    array_items(whole.substr(size));
  }
  EXPECT_EQ(find_value("", "a"), std::nullopt);
  EXPECT_EQ(find_value("{", "a"), std::nullopt);
  EXPECT_EQ(find_value("{\"a", "a"), std::nullopt);
  EXPECT_EQ(find_value("[1]", "a"), std::nullopt);
}

TEST(ArrayItems, ReturnsTheRawTextOfItems) {
  using Items = std::vector<std::string_view>;
  EXPECT_EQ(array_items("[[2, 3], [], \"a,]\", 5]"), (Items{"[2, 3]", "[]", "\"a,]\"", "5"}));
  EXPECT_EQ(array_items("[ ]"), Items{});
  EXPECT_EQ(array_items("{}"), Items{});
}

}  // namespace
}  // namespace epi::trace
