// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/overlap.h"

#include <gtest/gtest.h>

#include "epilogue/trace/links.h"

namespace epi::trace {
namespace {

EventId add(Trace& trace, Category category, int64_t begin_ns, int64_t dur_ns,
            int64_t correlation = 0) {
  return trace.push({.category = category,
                     .name = trace.names.intern("a"),
                     .lane = trace.find_or_add_lane({}),
                     .ts_ns = begin_ns,
                     .dur_ns = dur_ns,
                     .correlation = correlation});
}

TEST(Overlap, KeepsNestedAndSequentialEvents) {
  Trace trace;
  std::vector<EventId> events;
  for (int64_t i = 0; i < 1000; ++i) {
    for (int64_t depth = 0; depth < 64; ++depth) {
      events.push_back(add(trace, Category::kUserAnnotation, 1000 * i + depth, 1000 - 2 * depth));
    }
  }
  EXPECT_EQ(limit_overlap(trace, events), events);
  count_deep_overlap(trace);
  EXPECT_TRUE(trace.defects.empty());
}

TEST(Overlap, DropsEventsThatStartWhileTooManyAreOpen) {
  Trace trace;
  std::vector<EventId> events;
  for (int64_t i = 0; i < 200; ++i) {
    events.push_back(add(trace, Category::kUserAnnotation, 10 * i, 1000));
  }
  // 64 start before the first one ends at 1000, which makes room for those that start then.
  const auto kept = limit_overlap(trace, events);
  EXPECT_EQ(kept.size(), 128);
  EXPECT_EQ(kept[63], 63);
  EXPECT_EQ(kept[64], 100);
  count_deep_overlap(trace);
  EXPECT_EQ(trace.defects.of(Defect::kDeepOverlap), 1);
}

// The nearest call before the work, or the earliest one if all are later.
TEST(Links, FindsSharedCorrelationsByTime) {
  Trace trace;
  const EventId last = add(trace, Category::kCudaRuntime, 300, 1, 5);
  const EventId first = add(trace, Category::kCudaRuntime, 100, 1, 5);
  const EventId middle = add(trace, Category::kCudaRuntime, 200, 1, 5);
  add(trace, Category::kCudaRuntime, 200, 2, 5);  // the first in the file wins
  std::vector<EventId> kernels;
  for (const int64_t begin_ns : {50, 100, 199, 200, 299, 300, 900}) {
    kernels.push_back(add(trace, Category::kKernel, begin_ns, 1, 5));
  }
  const Links links = link(trace);
  EXPECT_EQ(links.shared_correlations, 3);
  const std::vector<EventId> expected = {first, first, first, middle, middle, last, last};
  for (size_t i = 0; i < kernels.size(); ++i) EXPECT_EQ(links.launch[kernels[i]], expected[i]);
}

}  // namespace
}  // namespace epi::trace
