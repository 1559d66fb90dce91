// SPDX-License-Identifier: Apache-2.0
// A limit of an analysis that a trace reaches is counted, so that the user learns of it.
#include <gtest/gtest.h>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/index/enclosing.h"
#include "epilogue/analysis/index/subject.h"
#include "epilogue/analysis/time/breakdown.h"
#include "tests/analysis/synthetic_trace.h"
#include "tests/analysis/test_data.h"

namespace epi::analysis {
namespace {

using trace::Defect;

trace::Trace with_devices(int64_t count) {
  std::string text = "[";
  for (int64_t i = 0; i < count; ++i) {
    text += fmt::format(
        R"({}{{"ph":"X","cat":"kernel","name":"k","pid":{},"tid":7,"ts":{},"dur":5,"args":{{}}}})",
        i == 0 ? "" : ",", i, 10 * i);
  }
  return trace::read_bytes(text + "]", "synthetic").value();
}

TEST(Limits, CountsDevicesThatBreakdownLeavesOut) {
  const trace::Trace few = with_devices(64);
  EXPECT_EQ(breakdown(TraceIndex(few)).size(), 64U);
  EXPECT_TRUE(few.defects.empty());
  const trace::Trace many = with_devices(65);
  EXPECT_EQ(breakdown(TraceIndex(many)).size(), 64U);
  EXPECT_EQ(many.defects.of(Defect::kManyDevices), 1);
  EXPECT_EQ(
      many.defects.lines(),
      std::vector<std::string>{"more than 64 devices: the breakdown has those with the most work"});
}

trace::Trace with_nested_operators(int64_t depth) {
  SyntheticTrace made;
  for (int64_t i = 0; i < depth; ++i) made.host("cpu_op", "aten::mm", i, 10000 - 2 * i);
  return made.kernel("k", 1000, 1010, 5).trace();
}

TEST(Limits, CountsNestedInstancesOfAnOperator) {
  const trace::Trace few = with_nested_operators(64);
  EXPECT_EQ(named_subject(TraceIndex(few), "aten::mm").group.instances.size(), 64U);
  EXPECT_TRUE(few.defects.empty());
  const trace::Trace many = with_nested_operators(65);
  EXPECT_EQ(named_subject(TraceIndex(many), "aten::mm").group.instances.size(), 64U);
  EXPECT_EQ(many.defects.of(Defect::kNestedSubject), 1);
}

TEST(Limits, CountsOperatorsTooFarOut) {
  const auto search = [](const trace::Trace& trace) {
    const TraceIndex index(trace);
    const trace::EventId innermost = index.links.tree.order[trace.size() - 3];
    return find_enclosing(index, innermost, [&](trace::EventId id) {
      return index.links.tree.parent[id] == trace::kNoEvent;
    });
  };
  const trace::Trace few = with_nested_operators(256);
  EXPECT_EQ(search(few), 0U);
  EXPECT_TRUE(few.defects.empty());
  const trace::Trace many = with_nested_operators(257);
  EXPECT_EQ(search(many), trace::kNoEvent);
  EXPECT_EQ(many.defects.of(Defect::kDeepOperators), 1);
}

trace::Trace with_threads(int64_t count) {
  SyntheticTrace made;
  made.host("user_annotation", "ProfilerStep#1", 0, 100 * count + 100);
  for (int64_t i = 1; i <= count; ++i) {
    made.host("cpu_op", "aten::mm", 100 * i, 50, 0, i);
    made.kernel("k", 100 * i + 10, 100 * i + 30, 40, 7, i);
  }
  return made.trace();
}

TEST(Limits, CountsThreadsThatTheCriticalPathLeavesOut) {
  const trace::Trace few = with_threads(64);
  EXPECT_TRUE(advise(TraceIndex(few), std::nullopt).diagnosis);
  EXPECT_TRUE(few.defects.empty());
  const trace::Trace many = with_threads(65);
  EXPECT_TRUE(advise(TraceIndex(many), std::nullopt).diagnosis);
  EXPECT_EQ(many.defects.of(Defect::kManyThreads), 1);
}

TEST(Limits, AreNotReachedByRecordedTraces) {
  for (const char* name : kTraces) {
    const trace::Trace trace = read_data(name);
    const TraceIndex index(trace);
    breakdown(index);
    advise(index, std::nullopt);
    named_subject(index, "", [](std::string_view text) { return text.starts_with("aten::"); });
    EXPECT_TRUE(trace.defects.empty()) << name;
  }
}

}  // namespace
}  // namespace epi::analysis
