// SPDX-License-Identifier: Apache-2.0
// Links between launches, kernels, operators and steps, in synthetic and recorded traces.
#include "epilogue/trace/links.h"

#include <gtest/gtest.h>

#include "epilogue/analysis/index/steps.h"
#include "tests/analysis/test_data.h"
#include "tests/trace/make_trace.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::TraceMaker;

TEST(Links, PreferTimesOverAWrongExternalId) {
  TraceMaker make;
  const EventId right = make.op("right", 0, 100, 1);
  make.op("wrong", 200, 100, 2);
  const EventId launch = make.add(Category::kCudaRuntime, "cudaLaunchKernel", 10, 5, 2);
  const EventId kernel = make.kernel("k", 50, 10, 2);
  make.trace().correlation[launch] = make.trace().correlation[kernel] = 7;
  const trace::Trace trace = make.take();
  const trace::Links links = trace::link(trace);
  EXPECT_EQ(links.launch[kernel], launch);
  EXPECT_EQ(links.op[kernel], right);
}

TEST(Links, UseExternalIdWithoutALaunch) {
  TraceMaker make;
  const EventId op = make.op("aten::mm", 0, 100, 1);
  const EventId kernel = make.kernel("gemm", 10, 50, 1);
  const trace::Trace trace = make.take();
  const trace::Links links = trace::link(trace);
  EXPECT_EQ(links.launch[kernel], trace::kNoEvent);
  EXPECT_EQ(links.op[kernel], op);
  EXPECT_EQ(links.launch_ns[kernel], 10);
}

// In a file with two ranks, correlation ids repeat but times do not.
TEST(Links, TakeNearestLaunchOfSharedCorrelationId) {
  TraceMaker make;
  EventId launches[2];
  EventId kernels[2];
  for (int rank = 0; rank < 2; ++rank) {
    const int64_t at = rank * 1000;
    launches[rank] = make.add(Category::kCudaRuntime, "cudaLaunchKernel", at + 10, 5);
    kernels[rank] = make.kernel("k", at + 50, 10, 0);
    make.trace().correlation[launches[rank]] = make.trace().correlation[kernels[rank]] = 7;
  }
  const trace::Trace trace = make.take();
  const trace::Links links = trace::link(trace);
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

TEST(Steps, AreColdAboveTwiceTheMedian) {
  TraceMaker make;
  const int64_t durations[] = {1000, 100, 110, 201};
  int64_t at = 0;
  for (const int64_t dur_ns : durations) {
    make.add(Category::kUserAnnotation, "ProfilerStep#" + std::to_string(at), at, dur_ns);
    at += 2000;
  }
  const trace::Trace trace = make.take();
  const trace::Links links = trace::link(trace);
  const InstanceGroup found = steps(trace, Ownership(trace, links));
  ASSERT_EQ(found.instances.size(), 4);
  EXPECT_TRUE(found.instances[0].cold);  // the median is 155.5
  EXPECT_FALSE(found.instances[3].cold);
  EXPECT_DOUBLE_EQ(median_measures(found).cpu_ns, 155.5);
}

TEST(Steps, OwnLaunchesOfOtherThreads) {
  TraceMaker make;
  make.add(Category::kUserAnnotation, "ProfilerStep#1", 0, 100);
  const EventId launch =
      make.add(Category::kCudaRuntime, "cudaGraphLaunch", 50, 5, 0, "", {100, 200});
  const EventId first = make.kernel("a", 90, 40, 0);    // after the step's end
  const EventId second = make.kernel("b", 110, 40, 0);  // overlaps the first
  make.kernel("unlaunched", 300, 10, 0);
  for (const EventId id : {launch, first, second}) make.trace().correlation[id] = 5;
  const trace::Trace trace = make.take();
  const trace::Links links = trace::link(trace);
  const Measures m = steps(trace, Ownership(trace, links)).instances.at(0).measures;
  EXPECT_EQ(m.kernels, 2);
  EXPECT_EQ(m.launches, 1);
  EXPECT_EQ(m.device_ns, 80);
  EXPECT_EQ(m.busy_ns, 60);
  EXPECT_EQ(m.window_ns, 150);
  EXPECT_EQ(m.idle_ns(), 90);
}

}  // namespace
}  // namespace epi::analysis
