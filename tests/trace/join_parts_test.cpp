// SPDX-License-Identifier: Apache-2.0
// Names and lanes of a trace that several threads have read.
#include "epilogue/trace/join_parts.h"

#include <gtest/gtest.h>

#include "tests/trace/trace_builder.h"

namespace epi::trace {
namespace {

// The first thread read the first and the last part of the file.
TEST(JoinParts, NumbersNamesAndLanesByFirstUse) {
  Trace one = TraceBuilder().op("a", 0, 1, {.thread = 1}).op("d", 3, 1, {.thread = 4}).trace();
  Trace two = TraceBuilder()
                  .op("skipped", 1, 1, {.thread = 5})
                  .op("b", 1, 1, {.thread = 2})
                  .op("a", 2, 1, {.thread = 1})
                  .op("c", 2, 1, {.thread = 3})
                  .trace();
  const Trace joined = join_parts({{&one, 0, 1}, {&two, 1, 4}, {&one, 1, 2}});
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
  Trace one = TraceBuilder().host(Category::kOther, "a", 0, 1).trace();
  one.other_categories[0] = one.names.intern("mine");
  const Trace joined = join_parts({{&one, 0, 1}});
  EXPECT_EQ(joined.category_text(0), "mine");
}

TEST(JoinParts, FreesTheColumnsOfTheParts) {
  Trace one = TraceBuilder().op("a", 0, 1).trace();
  const Trace joined = join_parts({{&one, 0, 1}});
  EXPECT_EQ(joined.size(), 1U);
  for_each_column([&](const auto& column) {
    EXPECT_EQ((joined.*column.values).size(), 1U);
    EXPECT_EQ((one.*column.values).capacity(), 0U);
  });
}

}  // namespace
}  // namespace epi::trace
