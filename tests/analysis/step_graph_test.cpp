// SPDX-License-Identifier: Apache-2.0
// Retiming a step with changed durations, step markers, and the GPU work a step owns.
#include "epilogue/analysis/time/step_graph.h"

#include <gtest/gtest.h>

#include <numeric>

#include "epilogue/analysis/index/step_marks.h"
#include "epilogue/analysis/step/diagnosis.h"
#include "tests/analysis/step_graph_of.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

using trace::TraceBuilder;

int64_t retimed_ns(const StepGraph& graph, std::unordered_map<trace::EventId, double> durations) {
  StepChange change;
  change.durations = std::move(durations);
  return graph.retimed(change).window_ns;
}

void expect_keeps_time(const StepGraph& graph) {
  const RetimedStep retimed = graph.retimed({});
  EXPECT_EQ(retimed.window_ns, graph.window_ns());
  EXPECT_EQ(std::accumulate(retimed.bounds.begin(), retimed.bounds.end(), int64_t{0}),
            retimed.window_ns);
}

TEST(StepGraph, KeepsRecordedDurationWithoutChanges) {
  for (const char* name : kTraces) {
    SCOPED_TRACE(name);
    const ModeledTrace made(name);
    const auto found = diagnose(made.models, made.models.judged());
    ASSERT_TRUE(found);
    expect_keeps_time(*found->graph);
    if (found->whole_trace()) continue;
    for (const StepModel& step : made.models.steps().steps) {
      const StepGraph graph = graph_of(made, step);
      EXPECT_EQ(graph.window_ns(), step.step_ns);
      expect_keeps_time(graph);
    }
  }
}

// A faster host does not shorten device work. Streams that ran one after another because of the
// host are not assumed to overlap.
TEST(StepGraph, FasterHostDoesNotShortenDeviceWork) {
  for (const char* name : kTraces) {
    SCOPED_TRACE(name);
    const ModeledTrace made(name);
    const auto found = diagnose(made.models, made.models.judged());
    ASSERT_TRUE(found);
    StepChange change;
    for (const Bound bound : {Bound::kDispatch, Bound::kLaunches}) {
      change.scale[static_cast<size_t>(bound)] = 0;
    }
    const int64_t running_ns = made.models.shown_device()->busy().in(found->graph_window);
    EXPECT_GE(found->graph->retimed(change).window_ns, running_ns);
  }
}

// The time without a limiter is the time after its bounds are scaled to zero.
TEST(StepGraph, TimesAllLimitersInOnePass) {
  const Limiter limiters[] = {Limiter::kGpu,           Limiter::kHost,     Limiter::kHostWork,
                              Limiter::kInput,         Limiter::kCopies,   Limiter::kAllocating,
                              Limiter::kCommunication, Limiter::kCompiling};
  for (const char* name : kTraces) {
    SCOPED_TRACE(name);
    const ModeledTrace made(name);
    const auto found = diagnose(made.models, made.models.judged());
    ASSERT_TRUE(found);
    const std::vector<StepWithout> steps = found->graph->without_each();
    double all_ns = 0;
    for (const StepWithout& step : steps) all_ns += step.ns;
    EXPECT_EQ(all_ns, static_cast<double>(found->graph->window_ns()));
    for (const Limiter limiter : limiters) {
      StepChange change;
      for (size_t bound = 0; bound < kBounds; ++bound) {
        if (limiter_of(static_cast<Bound>(bound)) == limiter) change.scale[bound] = 0;
      }
      double without_ns = 0;
      for (const StepWithout& step : steps) {
        without_ns += step.without_ns[static_cast<size_t>(limiter)];
      }
      // A faster host keeps the recorded order of streams; `retimed` does so for dispatch only.
      const auto retimed_ns = static_cast<double>(found->graph->retimed(change).window_ns);
      const bool is_exact = limiter == Limiter::kGpu || limiter == Limiter::kCopies ||
                            limiter == Limiter::kCommunication || limiter == Limiter::kHost;
      if (is_exact) {
        EXPECT_EQ(without_ns, retimed_ns);
      }
      EXPECT_GE(without_ns, retimed_ns);
    }
  }
}

TEST(StepGraph, WithoutWaitsOnlyTheCallAtTheEndWaits) {
  TraceBuilder builder;
  builder.step(1, 0, 400).kernel(kGemm, 10, 15, 100);
  builder.call("cudaStreamSynchronize", 20, 100).kernel(kGemm, 130, 135, 200);
  builder.call("cudaDeviceSynchronize", 140, 200);
  const ModeledTrace made(builder.trace());
  const auto found = diagnose(made.models, made.models.steps());
  ASSERT_TRUE(found);
  // Without the first wait, the second kernel follows the first one.
  const double saved = found->retimed.saves(Limiter::kSynchronizing) * 400;
  EXPECT_NEAR(saved, 135 - 115 - 1.5, 0.1);
}

// If the host's time is scaled to zero, halving an operator adds nothing back.
TEST(StepGraph, AppliesTheSmallerOfTwoChanges) {
  TraceBuilder builder;
  const trace::EventId mm = builder.step(1, 0, 400).op("aten::mm", 0, 300).last();
  const ModeledTrace made(builder.kernel(kGemm, 10, 13, 60).trace());
  const StepGraph graph = graph_of(made, made.models.steps().steps.at(0));
  StepChange change;
  change.scale[static_cast<size_t>(Bound::kDispatch)] = 0;
  const int64_t without_host = graph.retimed(change).window_ns;
  change.durations[mm] = 150000;
  EXPECT_EQ(graph.retimed(change).window_ns, without_host);
}

TEST(StepGraph, OnlyTheCriticalPathShortensTheStep) {
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 250)
                              .kernel(kGemm, 10, 13, 60)
                              .kernel(kGemm, 80, 83, 60)
                              .kernel(kGemm, 190, 193, 100)
                              .trace());
  const StepModel& step = made.models.steps().steps.at(0);
  const StepGraph graph = graph_of(made, step);
  ASSERT_EQ(graph.retimed({}).window_ns, 293000);
  const auto work = step.owned.work;
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
  EXPECT_EQ(marks(TraceBuilder().op("ProfilerStep#5", 0, 10).trace()),
            std::pair(std::string("ProfilerStep*"), size_t{1}));
  // Of nested markers of serving engines, the outer ones count.
  TraceBuilder engine;
  engine.annotation("execute_2_context_0(a)_generation_2(b)", 0, 50)
      .annotation("step[DECODE bs=2]", 5, 40)
      .annotation("execute_2_context_0(a)_generation_2(b)", 60, 50);
  EXPECT_EQ(marks(engine.trace()), std::pair(std::string("execute_*"), size_t{2}));
  EXPECT_EQ(marks(engine.step_pattern("^step.DECODE").trace()),
            std::pair(std::string("^step.DECODE"), size_t{1}));
  EXPECT_EQ(marks(TraceBuilder().op("aten::add", 0, 1).trace()).second, 0U);
}

TEST(Ownership, KernelWithoutLaunchBelongsToNoStep) {
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 100)
                              .kernel("own", 1, 50, 10)
                              .unlaunched("earlier", 20, 30, {.correlation = 4})
                              .trace());
  EXPECT_EQ(made.models.steps().steps.at(0).kernels, 1);
  EXPECT_EQ(made.index.ownership.everything().work.size(), 2U);
}

}  // namespace
}  // namespace epi::analysis
