// SPDX-License-Identifier: Apache-2.0
#include "epilogue/base/result.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <utility>

namespace epi {
namespace {

// tl::expected copies in noexcept functions, which would end the process without memory.
static_assert(!std::is_copy_constructible_v<Result<std::string>>);
static_assert(!std::is_copy_assignable_v<Result<std::string>>);
static_assert(!std::is_copy_constructible_v<Result<void>>);
static_assert(!std::is_constructible_v<Result<std::string>, const Result<const char*>&>);
static_assert(std::is_nothrow_move_constructible_v<Result<std::string>>);

Result<std::string> read_value(bool fails) {
  if (fails) return failure("{}: {}", "file", "is broken");
  return "value";
}

Result<void> use_value(bool fails) {
  EPI_TRY(read_value(fails));
  return {};
}

Result<void> use_variable(const Result<std::string>& value) {
  EPI_TRY(value);
  return {};
}

TEST(Result, TryReturnsTheFailureOfACall) {
  EXPECT_TRUE(use_value(false));
  EXPECT_EQ(use_value(true).error().message, "file: is broken");
}

TEST(Result, TryKeepsTheFailureOfAVariable) {
  const auto value = read_value(true);
  EXPECT_EQ(use_variable(value).error().message, "file: is broken");
  EXPECT_EQ(value.error().message, "file: is broken");
}

TEST(Result, MovesTheValue) {
  auto value = read_value(false);
  const Result<std::string> moved = std::move(value);
  EXPECT_EQ(*moved, "value");
}

}  // namespace
}  // namespace epi
