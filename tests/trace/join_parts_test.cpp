// SPDX-License-Identifier: Apache-2.0
// Names and lanes of a trace that several threads have read.
#include "epilogue/trace/join_parts.h"

#include <gtest/gtest.h>

#include "tests/trace/make_trace.h"

namespace epi::trace {
namespace {

// The first thread read the first and the last part of the file.
TEST(JoinParts, NumbersNamesAndLanesByFirstUse) {
  TraceMaker first;
  first.add(Category::kCpuOp, "a", 0, 1, 0, "", {1, 1});
  first.add(Category::kCpuOp, "d", 3, 1, 0, "", {1, 4});
  TraceMaker second;
  second.trace().names.intern("name of an event that was skipped");
  second.add(Category::kCpuOp, "b", 1, 1, 0, "", {1, 2});
  second.add(Category::kCpuOp, "a", 2, 1, 0, "", {1, 1});
  second.add(Category::kCpuOp, "c", 2, 1, 0, "", {1, 3});
  Trace one = first.take();
  Trace two = second.take();
  const Trace joined = join_parts({{&one, 0, 1}, {&two, 0, 3}, {&one, 1, 2}});
  EXPECT_EQ(joined.name, (std::vector<NameId>{0, 1, 0, 2, 3}));
  EXPECT_EQ(joined.lane, (std::vector<LaneId>{0, 1, 0, 2, 3}));
  ASSERT_EQ(joined.names.size(), 4U);
  ASSERT_EQ(joined.lanes.size(), 4U);
  for (EventId id = 0; id < joined.size(); ++id) {
    EXPECT_EQ(joined.name_of(id), (std::vector{"a", "b", "a", "c", "d"}[id]));
    EXPECT_EQ(joined.lanes[joined.lane[id]].tid, (std::vector{1, 2, 1, 3, 4}[id]));
  }
}

TEST(JoinParts, KeepsOtherCategories) {
  TraceMaker maker;
  const EventId id = maker.add(Category::kOther, "a", 0, 1);
  maker.trace().other_categories[id] = maker.trace().names.intern("mine");
  Trace one = maker.take();
  const Trace joined = join_parts({{&one, 0, 1}});
  EXPECT_EQ(joined.category_text(0), "mine");
}

TEST(JoinParts, FreesTheColumnsOfTheParts) {
  TraceMaker maker;
  maker.add(Category::kCpuOp, "a", 0, 1);
  Trace one = maker.take();
  const Trace joined = join_parts({{&one, 0, 1}});
  EXPECT_EQ(joined.size(), 1U);
  for_each_column([&](const auto& column) {
    EXPECT_EQ((joined.*column.values).size(), 1U);
    EXPECT_EQ((one.*column.values).capacity(), 0U);
  });
}

}  // namespace
}  // namespace epi::trace
