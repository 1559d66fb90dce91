// SPDX-License-Identifier: Apache-2.0
// Retiming a step with changed durations, step markers, and the GPU work a step owns.
#include "epilogue/analysis/time/step_graph.h"

#include <gtest/gtest.h>

#include <numeric>

#include "epilogue/analysis/index/step_marks.h"
#include "epilogue/analysis/index/subject.h"
#include "tests/analysis/synthetic_trace.h"
#include "tests/analysis/test_data.h"

namespace epi::analysis {
namespace {

int64_t retimed_ns(const StepGraph& graph, std::unordered_map<trace::EventId, double> durations) {
  StepChange change;
  change.durations = std::move(durations);
  return graph.retimed(change).window_ns;
}

// Without changes, a retimed step keeps its duration.
TEST(StepGraph, KeepsRecordedDurationWithoutChanges) {
  for (const char* name : kTraces) {
    SCOPED_TRACE(name);
    const trace::Trace trace = read_data(name);
    const TraceIndex index(trace);
    const StepGraphs graphs(index);
    const Subject steps = step_subject(index);
    for (size_t i = 0; i < steps.owned.size(); ++i) {
      const StepGraph graph = graphs.graph(graphs.window(steps.group.instances[i], steps.owned[i]));
      const RetimedStep retimed = graph.retimed({});
      EXPECT_EQ(retimed.window_ns, graph.window_ns());
      EXPECT_EQ(std::accumulate(retimed.bounds.begin(), retimed.bounds.end(), int64_t{0}),
                retimed.window_ns);
      const Instance& step = steps.group.instances[i];
      if (step.event == trace::kNoEvent) continue;  // ends with its last GPU work
      EXPECT_EQ(graph.window_ns(), step.measures.window_ns);
    }
  }
}

// A faster host does not shorten device work. Streams that ran one after another because of the
// host are not assumed to overlap.
TEST(StepGraph, FasterHostDoesNotShortenDeviceWork) {
  for (const char* name : kTraces) {
    SCOPED_TRACE(name);
    const trace::Trace trace = read_data(name);
    const TraceIndex index(trace);
    const auto found = diagnose(index, step_subject(index));
    if (!found) continue;
    StepChange change;
    for (const Bound bound : {Bound::kDispatch, Bound::kLaunches}) {
      change.scale[static_cast<size_t>(bound)] = 0;
    }
    EXPECT_GE(found->graph->retimed(change).window_ns, found->busy_ns);
  }
}

// If the host's time is scaled to zero, halving an operator adds nothing back.
TEST(StepGraph, AppliesTheSmallerOfTwoChanges) {
  const trace::Trace trace = SyntheticTrace()
                                 .host("user_annotation", kStep, 0, 400)
                                 .host("cpu_op", "aten::mm", 0, 300)
                                 .kernel(kGemm, 10, 13, 60)
                                 .trace();
  const TraceIndex index(trace);
  const auto found = diagnose(index, step_subject(index));
  ASSERT_TRUE(found);
  StepChange change;
  change.scale[static_cast<size_t>(Bound::kDispatch)] = 0;
  const int64_t without_host = found->graph->retimed(change).window_ns;
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    if (trace.name_of(id) == "aten::mm") change.durations[id] = 150000;
  }
  EXPECT_EQ(found->graph->retimed(change).window_ns, without_host);
}

TEST(StepGraph, OnlyTheCriticalPathShortensTheStep) {
  const trace::Trace trace = SyntheticTrace()
                                 .host("user_annotation", kStep, 0, 250)
                                 .kernel(kGemm, 10, 13, 60)
                                 .kernel(kGemm, 80, 83, 60)
                                 .kernel(kGemm, 190, 193, 100)
                                 .trace();
  const TraceIndex index(trace);
  const StepGraphs graphs(index);
  const Subject steps = step_subject(index);
  const StepGraph graph = graphs.graph(graphs.window(steps.group.instances[0], steps.owned[0]));
  ASSERT_EQ(graph.retimed({}).window_ns, 293000);
  const auto& work = steps.owned[0].work;
  // The host launches the third kernel at a fixed time, so the first two do not matter.
  EXPECT_EQ(retimed_ns(graph, {{work[0], 1}, {work[1], 1}}), 293000);
  // The third kernel matters until the step ends with the host.
  EXPECT_EQ(retimed_ns(graph, {{work[2], 50000}}), 250000);
  EXPECT_EQ(retimed_ns(graph, {{work[2], 70000}}), 263000);
}

TEST(StepMarks, AreFoundByNameFamily) {
  const auto marks = [](const trace::Trace& trace) {
    const StepMarks found = step_marks(trace);
    return std::pair(found.name, found.events.size());
  };
  // Old PyTorch versions record steps as operators.
  EXPECT_EQ(marks(SyntheticTrace().host("Operator", "ProfilerStep#5", 0, 10).trace()),
            std::pair(std::string("ProfilerStep*"), size_t{1}));
  // Of nested markers of serving engines, the outer ones count.
  const auto engine =
      SyntheticTrace()
          .host("user_annotation", "execute_2_context_0(a)_generation_2(b)", 0, 50)
          .host("user_annotation", "step[DECODE bs=2]", 5, 40)
          .host("user_annotation", "execute_2_context_0(a)_generation_2(b)", 60, 50);
  EXPECT_EQ(marks(engine.trace()), std::pair(std::string("execute_*"), size_t{2}));
  EXPECT_EQ(marks(engine.trace("^step.DECODE")), std::pair(std::string("^step.DECODE"), size_t{1}));
  EXPECT_EQ(marks(SyntheticTrace().host("cpu_op", "aten::add", 0, 1).trace()).second, 0U);
}

TEST(Ownership, KernelWithoutLaunchBelongsToNoStep) {
  const trace::Trace trace =
      trace::read_bytes(
          R"([{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1, "tid": 1, "ts": 0, "dur": 100},
              {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1, "dur": 2, "args": {"correlation": 5}},
              {"ph": "X", "cat": "kernel", "name": "own", "pid": 0, "tid": 7, "ts": 50, "dur": 10, "args": {"correlation": 5}},
              {"ph": "X", "cat": "kernel", "name": "earlier", "pid": 0, "tid": 7, "ts": 20, "dur": 30, "args": {"correlation": 4}}])",
          "synthetic")
          .value();
  const TraceIndex index(trace);
  EXPECT_EQ(steps(trace, index.ownership).instances.at(0).measures.kernels, 1);
  EXPECT_EQ(index.ownership.everything().work.size(), 2U);
}

}  // namespace
}  // namespace epi::analysis
