// SPDX-License-Identifier: Apache-2.0
// Links between launches, kernels and operators, in synthetic and recorded traces.
#include "epilogue/trace/links.h"

#include <gtest/gtest.h>

#include "tests/analysis/test_data.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::TraceBuilder;

TEST(Links, PreferTimesOverAWrongExternalId) {
  TraceBuilder builder;
  const EventId right = builder.op("right", 0, 100, {.external_id = 1}).last();
  builder.op("wrong", 200, 100, {.external_id = 2});
  const EventId launch =
      builder.call("cudaLaunchKernel", 10, 5, {.external_id = 2, .correlation = 7}).last();
  const EventId kernel =
      builder.unlaunched("k", 50, 10, {.external_id = 2, .correlation = 7}).last();
  const trace::Links links = trace::link(builder.trace());
  EXPECT_EQ(links.launch[kernel], launch);
  EXPECT_EQ(links.op[kernel], right);
}

TEST(Links, UseExternalIdWithoutALaunch) {
  TraceBuilder builder;
  const EventId op = builder.op("aten::mm", 0, 100, {.external_id = 1}).last();
  const EventId kernel = builder.unlaunched("gemm", 10, 50, {.external_id = 1}).last();
  const trace::Links links = trace::link(builder.trace());
  EXPECT_EQ(links.launch[kernel], trace::kNoEvent);
  EXPECT_EQ(links.op[kernel], op);
  EXPECT_EQ(links.launch_ns[kernel], 0);
}

// In a file with two ranks, correlation ids repeat but times do not.
TEST(Links, TakeNearestLaunchOfSharedCorrelationId) {
  TraceBuilder builder;
  EventId launches[2];
  EventId kernels[2];
  for (int rank = 0; rank < 2; ++rank) {
    const int64_t at = rank * 1000;
    launches[rank] = builder.call("cudaLaunchKernel", at + 10, 5, {.correlation = 7}).last();
    kernels[rank] = builder.unlaunched("k", at + 50, 10, {.correlation = 7}).last();
  }
  const trace::Links links = trace::link(builder.trace());
  EXPECT_EQ(links.launch[kernels[0]], launches[0]);
  EXPECT_EQ(links.launch[kernels[1]], launches[1]);
  EXPECT_EQ(links.shared_correlations, 1);
}

TEST(Links, ConnectBackwardOperatorsToForward) {
  const trace::Trace trace = read_data("traces/llama_train.json.gz");
  const auto forward = trace::forward_ops(trace);
  int64_t flows = 0;
  int64_t joined = 0;
  for (EventId id = 0; id < trace.size(); ++id) {
    const bool flow = trace.category[id] == Category::kFwdbwd;
    flows += flow && trace.phase[id] == trace::Phase::kFlowEnd ? 1 : 0;
    if (forward[id] == trace::kNoEvent) continue;
    ++joined;
    EXPECT_LT(trace.ts_ns[forward[id]], trace.ts_ns[id]);
    EXPECT_NE(trace.lane[forward[id]], trace.lane[id]);  // autograd runs on its own thread
  }
  EXPECT_EQ(flows, 2682);
  EXPECT_EQ(joined, 2682);
}

TEST(Links, NestPythonFramesSeparately) {
  const trace::Trace trace = read_data("pytorch/train_stack.json.gz");
  const auto parents = trace::python_parents(trace);
  int64_t frames = 0;
  int64_t children = 0;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.category[id] != Category::kPythonFunction) {
      ASSERT_EQ(parents[id], trace::kNoEvent);
      continue;
    }
    ++frames;
    if (parents[id] == trace::kNoEvent) continue;
    ++children;
    ASSERT_LE(trace.ts_ns[parents[id]], trace.ts_ns[id]);
  }
  EXPECT_GT(frames, 1000);
  EXPECT_GT(children, frames / 2);
}

}  // namespace
}  // namespace epi::analysis
