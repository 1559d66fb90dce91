// SPDX-License-Identifier: Apache-2.0
// The timeline of a page: rows, the longest events in full, and levels of detail that cover all
// events.
#include "epilogue/analysis/time/timeline.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "tests/analysis/test_data.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::TraceBuilder;

std::map<std::string, int> rows_by_name(const trace::Trace& trace, const TimelineLane& lane) {
  std::map<std::string, int> rows;
  for (size_t i = 0; i < lane.events.size(); ++i) {
    rows[std::string(trace.name_of(lane.events[i]))] = lane.rows[i];
  }
  return rows;
}

TEST(Timeline, RowsFollowNestingDepth) {
  const trace::Trace trace = TraceBuilder()
                                 .op("child", 10, 20)
                                 .op("parent", 0, 100)
                                 .op("grandchild", 15, 5)
                                 .op("second child", 30, 10)
                                 .op("next", 100, 5)
                                 .unlaunched("first", 0, 10)
                                 .unlaunched("over it", 5, 10)
                                 .unlaunched("behind", 11, 10)
                                 .trace();
  const Timeline timeline = make_timeline(TraceIndex(trace), 100);
  ASSERT_EQ(timeline.lanes.size(), 2U);
  const auto host = rows_by_name(trace, timeline.lanes[1]);
  EXPECT_EQ(host,
            (std::map<std::string, int>{
                {"parent", 0}, {"child", 1}, {"grandchild", 2}, {"second child", 1}, {"next", 0}}));
  EXPECT_TRUE(timeline.lanes[0].is_device) << "devices come first";
  EXPECT_FALSE(timeline.lanes[1].is_device);
  const auto device = rows_by_name(trace, timeline.lanes[0]);
  EXPECT_EQ(device, (std::map<std::string, int>{{"first", 0}, {"over it", 1}, {"behind", 0}}));
  EXPECT_EQ(timeline.begin_ns, 0);
  EXPECT_EQ(timeline.end_ns, 105000);
  EXPECT_TRUE(timeline.cells_ns.empty()) << "few events need no levels";
}

TEST(Timeline, CountsEventsBelowTheLastRow) {
  TraceBuilder builder;
  const auto deep = static_cast<int64_t>(kTimelineRows) + 3;
  for (int64_t i = 0; i < deep; ++i) builder.op("nested", i, 1000 - 2 * i);
  const trace::Trace trace = builder.trace();
  const Timeline timeline = make_timeline(TraceIndex(trace), 1000);
  EXPECT_EQ(timeline.too_deep, 3);
  EXPECT_EQ(timeline.lanes.at(0).events.size(), kTimelineRows);
}

// A trace with a kernel on each of many streams of two devices, longer for higher numbers, and an
// operator on each of many threads.
trace::Trace many_lanes(size_t streams, size_t threads) {
  TraceBuilder builder;
  for (size_t i = 1; i <= streams; ++i) {
    builder.unlaunched("a", 10 * i, i, {.stream = static_cast<int64_t>(i)});
  }
  builder.unlaunched("a", 10, 3, {.device = 1, .stream = 1});
  for (size_t i = 1; i <= threads; ++i) {
    builder.op("a", 5, 1 + i, {.thread = static_cast<int64_t>(i)});
  }
  return builder.trace();
}

TEST(Timeline, KeepsTheBusiestStreamsOfEachDevice) {
  const trace::Trace trace = many_lanes(kMaxStreamsPerDevice + 3, 2);
  const Timeline timeline = make_timeline(TraceIndex(trace), 1000);
  ASSERT_EQ(timeline.lanes.size(), 2 + kMaxStreamsPerDevice + 1);
  EXPECT_EQ(timeline.lanes[0].name, "GPU 0 stream 4") << "1 to 3 have the least time";
  EXPECT_EQ(timeline.lanes[kMaxStreamsPerDevice].name, "GPU 1 stream 1");
  EXPECT_EQ(timeline.streams_left_out, 3);
  EXPECT_EQ(timeline.left_out_stream_ns, (1 + 2 + 3) * 1000);
  EXPECT_EQ(timeline.stream_ns, (67 * 68 / 2 + 3) * 1000);
  EXPECT_EQ(timeline.threads_left_out, 0);
  EXPECT_EQ(timeline.left_out, 0) << "events of streams without a lane are not merged into spans";
  EXPECT_EQ(timeline.begin_ns, 5000);
}

TEST(Timeline, KeepsTheBusiestThreads) {
  const trace::Trace trace = many_lanes(3, kMaxTimelineLanes + 5);
  const Timeline timeline = make_timeline(TraceIndex(trace), 10000);
  ASSERT_EQ(timeline.lanes.size(), kMaxTimelineLanes + 4);
  EXPECT_EQ(timeline.lanes[3 + 1].name, fmt::format("thread {}", kMaxTimelineLanes + 5))
      << "the busiest thread follows the streams";
  EXPECT_EQ(timeline.lanes.back().name, "thread 6");
  EXPECT_EQ(timeline.threads_left_out, 5);
  EXPECT_EQ(timeline.streams_left_out, 0);
}

std::set<EventId> kept_events(const Timeline& timeline) {
  std::set<EventId> kept;
  for (const auto& lane : timeline.lanes) kept.insert(lane.events.begin(), lane.events.end());
  return kept;
}

std::vector<EventId> longest_first(const trace::Trace& trace, const std::set<EventId>& events) {
  std::vector<EventId> sorted(events.begin(), events.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](EventId a, EventId b) { return trace.dur_ns[a] > trace.dur_ns[b]; });
  return sorted;
}

// Keeping the launching operators lets the page show an operator with its kernels.
TEST(Timeline, KeepsLongestKernelsAndTheirLaunches) {
  const trace::Trace trace = read_data("traces/llama_train.json.gz");
  const TraceIndex index(trace);
  const auto all = kept_events(make_timeline(index, SIZE_MAX));
  const Timeline timeline = make_timeline(index, 2000);
  const auto kept = kept_events(timeline);
  EXPECT_GE(kept.size(), 2000U);
  EXPECT_LT(kept.size(), 2000U + kTimelineRows);
  EXPECT_EQ(timeline.left_out, static_cast<int64_t>(all.size() - kept.size()));
  std::set<EventId> work;
  for (const EventId id : all) {
    if (trace::is_device_work(trace.category[id])) work.insert(id);
  }
  const std::vector<EventId> longest = longest_first(trace, work);
  for (size_t i = 0; i < 300; ++i) {
    EXPECT_TRUE(kept.contains(longest[i]));
    for (EventId id = index.links.launch[longest[i]]; id != trace::kNoEvent;
         id = index.links.tree.parent[id]) {
      EXPECT_TRUE(kept.contains(id)) << trace.name_of(id);
    }
  }
  const std::vector<EventId> any = longest_first(trace, all);
  for (size_t i = 0; i < 400; ++i) EXPECT_TRUE(kept.contains(any[i])) << trace.name_of(any[i]);
}

// Each level contains every event once and has the same total time. Its spans do not overlap.
TEST(Timeline, LevelsContainEveryEvent) {
  const trace::Trace trace = read_data("traces/llama_train.json.gz");
  const TraceIndex index(trace);
  const Timeline all = make_timeline(index, SIZE_MAX);
  const Timeline timeline = make_timeline(index, 2000);
  ASSERT_FALSE(timeline.cells_ns.empty());
  ASSERT_EQ(timeline.lanes.size(), all.lanes.size());
  for (size_t i = 0; i < timeline.lanes.size(); ++i) {
    const TimelineLane& lane = timeline.lanes[i];
    int64_t busy_ns = 0;
    for (const EventId id : all.lanes[i].events) busy_ns += trace.dur_ns[id];
    ASSERT_EQ(lane.levels.size(), timeline.cells_ns.size());
    for (size_t level = 0; level < lane.levels.size(); ++level) {
      const int64_t cell_ns = timeline.cells_ns[level];
      int64_t count = 0;
      int64_t spans_ns = 0;
      for (const TimelineRow& row : lane.levels[level]) {
        EXPECT_LE(row.size(),
                  2U + 2U * static_cast<size_t>((timeline.end_ns - timeline.begin_ns) / cell_ns));
        int64_t covered_to = INT64_MIN;
        for (const TimelineSpan& span : row) {
          EXPECT_GE(span.begin_ns, covered_to);
          EXPECT_LE(span.busy_ns, span.end_ns - span.begin_ns);
          EXPECT_TRUE(span.count == 1 || span.end_ns - span.begin_ns < 2 * cell_ns);
          covered_to = span.end_ns;
          count += span.count;
          spans_ns += span.busy_ns;
        }
      }
      EXPECT_EQ(count, static_cast<int64_t>(all.lanes[i].events.size())) << lane.name;
      EXPECT_EQ(spans_ns, busy_ns) << lane.name;
    }
  }
}

TEST(Timeline, LevelsRespectTheSpanLimit) {
  const trace::Trace trace = read_data("traces/llama_train.json.gz");
  for (const size_t max_spans : {5000U, 20000U, 100000U}) {
    const Timeline timeline = make_timeline(TraceIndex(trace), max_spans);
    size_t spans = 0;
    for (const auto& lane : timeline.lanes) {
      for (const auto& level : lane.levels) {
        for (const TimelineRow& row : level) spans += row.size();
      }
    }
    EXPECT_LE(spans, max_spans);
  }
}

}  // namespace
}  // namespace epi::analysis
