// SPDX-License-Identifier: Apache-2.0
// A limit of an analysis that a trace reaches is noted, so that the user learns of it.
#include <gtest/gtest.h>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/analysis/index/enclosing.h"
#include "epilogue/analysis/step/breakdown.h"
#include "tests/analysis/modeled_trace.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

using trace::TraceBuilder;

trace::Trace with_devices(int64_t count) {
  TraceBuilder builder;
  for (int64_t i = 0; i < count; ++i) builder.unlaunched("k", 10 * i, 5, {.device = i});
  return builder.trace();
}

TEST(Limits, NotesDevicesThatBreakdownLeavesOut) {
  const ModeledTrace few(with_devices(64));
  EXPECT_EQ(breakdown(few.models).size(), 64U);
  EXPECT_TRUE(few.index.limits.lines().empty());
  const ModeledTrace many(with_devices(65));
  EXPECT_EQ(breakdown(many.models).size(), 64U);
  EXPECT_TRUE(many.index.limits.contains(Limit::kDevices));
  EXPECT_EQ(
      many.index.limits.lines(),
      std::vector<std::string>{"more than 64 devices: the breakdown has those with the most work"});
}

trace::Trace with_nested_operators(int64_t depth) {
  TraceBuilder builder;
  for (int64_t i = 0; i < depth; ++i) builder.op("aten::mm", i, 10000 - 2 * i);
  return builder.kernel("k", 1000, 1010, 5).trace();
}

TEST(Limits, NotesNestedInstancesOfAnOperator) {
  const ModeledTrace few(with_nested_operators(64));
  EXPECT_EQ(few.models.named("aten::mm").steps.size(), 64U);
  EXPECT_TRUE(few.index.limits.lines().empty());
  const ModeledTrace many(with_nested_operators(65));
  EXPECT_EQ(many.models.named("aten::mm").steps.size(), 64U);
  EXPECT_TRUE(many.index.limits.contains(Limit::kNestedOperators));
}

TEST(Limits, NotesOperatorsTooFarOut) {
  const auto search = [](const TraceIndex& index) {
    const trace::EventId innermost = index.links.tree.order[index.trace.size() - 3];
    return find_enclosing(index, innermost, [&](trace::EventId id) {
      return index.links.tree.parent[id] == trace::kNoEvent;
    });
  };
  const ModeledTrace few(with_nested_operators(256));
  EXPECT_EQ(search(few.index), 0U);
  EXPECT_TRUE(few.index.limits.lines().empty());
  const ModeledTrace many(with_nested_operators(257));
  EXPECT_EQ(search(many.index), trace::kNoEvent);
  EXPECT_TRUE(many.index.limits.contains(Limit::kEnclosingOperators));
}

trace::Trace with_threads(int64_t count) {
  TraceBuilder builder;
  builder.step(1, 0, 100 * count + 100);
  for (int64_t i = 1; i <= count; ++i) {
    builder.op("aten::mm", 100 * i, 50, {.thread = i});
    builder.kernel("k", 100 * i + 10, 100 * i + 30, 40, {.thread = i});
  }
  return builder.trace();
}

TEST(Limits, NotesThreadsThatTheCriticalPathLeavesOut) {
  const ModeledTrace few(with_threads(64));
  EXPECT_TRUE(advise(few.models, std::nullopt).diagnosis);
  EXPECT_TRUE(few.index.limits.lines().empty());
  const ModeledTrace many(with_threads(65));
  EXPECT_TRUE(advise(many.models, std::nullopt).diagnosis);
  EXPECT_TRUE(many.index.limits.contains(Limit::kThreads));
}

TEST(Limits, AreNotReachedByRecordedTraces) {
  for (const char* name : kTraces) {
    const ModeledTrace made(name);
    breakdown(made.models);
    advise(made.models, std::nullopt);
    made.models.named("aten", [](std::string_view text) { return text.starts_with("aten::"); });
    EXPECT_TRUE(made.index.limits.lines().empty()) << name;
    EXPECT_TRUE(made.trace.defects.empty()) << name;
  }
}

}  // namespace
}  // namespace epi::analysis
