// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/overlap.h"

#include <gtest/gtest.h>

#include <numeric>

#include "epilogue/trace/links.h"
#include "tests/trace/trace_builder.h"

namespace epi::trace {
namespace {

std::vector<EventId> all_of(const Trace& trace) {
  std::vector<EventId> events(trace.size());
  std::iota(events.begin(), events.end(), EventId{0});
  return events;
}

TEST(Overlap, KeepsNestedAndSequentialEvents) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 1000; ++i) {
    for (int64_t depth = 0; depth < 64; ++depth) {
      builder.annotation("a", 1000 * i + depth, 1000 - 2 * depth);
    }
  }
  Trace trace = builder.trace();
  const std::vector<EventId> events = all_of(trace);
  EXPECT_EQ(limit_overlap(trace, events), events);
  count_deep_overlap(trace);
  EXPECT_TRUE(trace.defects.empty());
}

TEST(Overlap, DropsEventsThatStartWhileTooManyAreOpen) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 200; ++i) builder.annotation("a", 10 * i, 1000);
  Trace trace = builder.trace();
  // 64 start before the first one ends at 1000, which makes room for those that start then.
  const auto kept = limit_overlap(trace, all_of(trace));
  EXPECT_EQ(kept.size(), 128);
  EXPECT_EQ(kept[63], 63);
  EXPECT_EQ(kept[64], 100);
  count_deep_overlap(trace);
  EXPECT_EQ(trace.defects.of(Defect::kDeepOverlap), 1);
}

// The nearest call before the work, or the earliest one if all are later.
TEST(Links, FindsSharedCorrelationsByTime) {
  TraceBuilder builder;
  const auto call = [&](int64_t begin, int64_t dur) {
    return builder.call("cudaLaunchKernel", begin, dur, {.correlation = 5}).last();
  };
  const EventId last = call(300, 1);
  const EventId first = call(100, 1);
  const EventId middle = call(200, 1);
  call(200, 2);  // the first in the file wins
  std::vector<EventId> kernels;
  for (const int64_t begin : {50, 100, 199, 200, 299, 300, 900}) {
    kernels.push_back(builder.unlaunched("k", begin, 1, {.correlation = 5}).last());
  }
  const Links links = link(builder.trace());
  EXPECT_EQ(links.shared_correlations, 3);
  const std::vector<EventId> expected = {first, first, first, middle, middle, last, last};
  for (size_t i = 0; i < kernels.size(); ++i) EXPECT_EQ(links.launch[kernels[i]], expected[i]);
}

}  // namespace
}  // namespace epi::trace
