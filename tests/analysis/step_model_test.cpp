// SPDX-License-Identifier: Apache-2.0
// The measures of docs/measures.md, worked out by hand for small traces. step_identities_test.cpp
// checks them on random traces.
#include "epilogue/analysis/step/step_models.h"

#include <gtest/gtest.h>

#include <ostream>

#include "tests/analysis/modeled_trace.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

using trace::TraceBuilder;

constexpr const char* kHtoD = "Memcpy HtoD (Pageable -> Device)";

Interval us(int64_t begin, int64_t end) { return {1000 * begin, 1000 * end}; }

// The times of a step in microseconds.
struct Times {
  int64_t cpu = 0;
  int64_t step = 0;
  int64_t latency = 0;
  int64_t gpu = 0;
  int64_t busy = 0;
  int64_t others = 0;
  int64_t idle = 0;

  bool operator==(const Times&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Times& t) {
  return out << "cpu " << t.cpu << ", step " << t.step << ", latency " << t.latency << ", gpu "
             << t.gpu << ", busy " << t.busy << ", others " << t.others << ", idle " << t.idle;
}

Times times_of(const StepModel& step) {
  return {step.cpu_ns / 1000,  step.step_ns / 1000,   step.latency_ns / 1000, step.gpu_ns / 1000,
          step.busy_ns / 1000, step.others_ns / 1000, step.idle_ns / 1000};
}

const StepModel& step_of(const ModeledTrace& made, size_t place = 0) {
  return made.models.steps().steps.at(place);
}

TimeShares shares_of(const ModeledTrace& made, size_t step = 0, size_t device = 0) {
  return made.models.shares(step_of(made, step), made.models.devices().at(device));
}

TEST(StepModel, MeasuresWorkOfOneStream) {
  // The GPU runs from 15 to 35, 40 to 75 and 80 to 90: 65 of 100 us.
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 100)
                              .kernel(kGemm, 10, 15, 20)
                              .kernel(kGemm, 20, 40, 30)
                              .memset(30, 70, 5)
                              .copy(kHtoD, 40, 80, 10, {.call = "cudaMemcpy", .call_dur = 52})
                              .call("cudaLaunchKernel", 93, 2)  // its kernel is not in the file
                              .call("cudaDeviceSynchronize", 95, 3)
                              .trace());
  const StepModel& step = step_of(made);
  EXPECT_EQ(step.name, "ProfilerStep#1");
  EXPECT_EQ(step.host, us(0, 100));
  EXPECT_EQ(step.window, us(0, 100));
  EXPECT_EQ(times_of(step),
            (Times{.cpu = 100, .step = 100, .latency = 100, .gpu = 65, .busy = 65, .idle = 35}));
  EXPECT_DOUBLE_EQ(step.busy_share(), 0.65);
  EXPECT_DOUBLE_EQ(step.idle_share(), 0.35);
  EXPECT_EQ(step.kernels, 2);
  EXPECT_EQ(step.memcpys, 1);
  EXPECT_EQ(step.memsets, 1);
  EXPECT_EQ(step.launches, 4);
  EXPECT_EQ(step.lost_launches, 1);
  EXPECT_EQ(step.syncs, 2);  // the blocking copy and the synchronization
  EXPECT_EQ(step.period_ns, std::nullopt);
  EXPECT_FALSE(step.cold);
}

TEST(StepModel, CountsOverlappingStreamsOnce) {
  // 10 to 50 on stream 7 and 30 to 70 on stream 8: 80 us of work in 60 us. The window ends with it.
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 60)
                              .kernel(kGemm, 5, 10, 40)
                              .kernel(kGemm, 7, 30, 40, {.stream = 8})
                              .trace());
  EXPECT_EQ(times_of(step_of(made)),
            (Times{.cpu = 60, .step = 70, .latency = 70, .gpu = 80, .busy = 60, .idle = 10}));
}

TEST(StepModel, OwnsLaunchesOfOtherThreadsAndWorkAfterItsEnd) {
  // A graph with two kernels, launched by another thread: 90 to 130 and 110 to 150.
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 100)
                              .launch("cudaGraphLaunch", 50, 5, {.thread = 2})
                              .and_kernel("a", 90, 40)
                              .and_kernel("b", 110, 40, {.stream = 8})
                              .unlaunched("of nobody", 300, 10)
                              .trace());
  const StepModel& step = step_of(made);
  EXPECT_EQ(times_of(step),
            (Times{.cpu = 100, .step = 150, .latency = 150, .gpu = 80, .busy = 60, .idle = 90}));
  EXPECT_EQ(step.kernels, 2);
  EXPECT_EQ(step.launches, 1);
}

TEST(StepModel, OwnsWorkThatItsOperatorCallsWithoutALaunch) {
  // The operator starts in the first step, its kernel in the second one.
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 100)
                              .step(2, 100, 100)
                              .op("aten::mm", 90, 5, {.external_id = 3})
                              .unlaunched(kGemm, 110, 40, {.external_id = 3})
                              .trace());
  EXPECT_EQ(step_of(made, 0).kernels, 1);
  EXPECT_EQ(step_of(made, 1).kernels, 0);
}

// Three steps of 20 us on the host, each with a kernel of 100 us.
TraceBuilder ahead() {
  TraceBuilder builder;
  for (int64_t i = 0; i < 3; ++i) {
    builder.step(i, 20 * i, 20).kernel(kGemm, 20 * i + 5, 10 + 100 * i, 100);
  }
  return builder;
}

TEST(StepModel, WindowStartsWhenEarlierWorkEnds) {
  const ModeledTrace made(ahead().trace());
  EXPECT_EQ(step_of(made, 0).window, us(0, 110));
  EXPECT_EQ(step_of(made, 1).window, us(110, 210));
  EXPECT_EQ(step_of(made, 2).window, us(210, 310));
  EXPECT_EQ(times_of(step_of(made, 0)),
            (Times{.cpu = 20, .step = 110, .latency = 110, .gpu = 100, .busy = 100, .idle = 10}));
  EXPECT_EQ(times_of(step_of(made, 1)),
            (Times{.cpu = 20, .step = 100, .latency = 190, .gpu = 100, .busy = 100}));
  EXPECT_EQ(times_of(step_of(made, 2)),
            (Times{.cpu = 20, .step = 100, .latency = 270, .gpu = 100, .busy = 100}));
}

TEST(StepModel, StepTimesOfAHostThatRunsAheadAddUpToTheTrace) {
  const ModeledTrace made(ahead().trace());
  int64_t sum_ns = 0;
  for (const StepModel& step : made.models.steps().steps) sum_ns += step.step_ns;
  EXPECT_EQ(sum_ns, made.models.whole_trace().steps.at(0).step_ns);
}

TEST(StepModel, PeriodIsTheTimeToTheNextStart) {
  const ModeledTrace made(ahead().trace());
  EXPECT_EQ(step_of(made, 0).period_ns, 20000);
  EXPECT_EQ(step_of(made, 1).period_ns, 20000);
  EXPECT_EQ(step_of(made, 2).period_ns, std::nullopt);
}

TEST(StepModel, WindowIncludesGapsAfterEarlierWork) {
  // The second step's kernel follows the first one's after 3 us, which count as idle.
  const ModeledTrace made(TraceBuilder()
                              .step(0, 0, 20)
                              .kernel(kGemm, 5, 10, 100)
                              .step(1, 20, 20)
                              .kernel(kGemm, 25, 113, 100)
                              .trace());
  EXPECT_EQ(step_of(made, 1).window, us(110, 213));
  EXPECT_EQ(times_of(step_of(made, 1)),
            (Times{.cpu = 20, .step = 103, .latency = 193, .gpu = 100, .busy = 100, .idle = 3}));
}

TEST(StepModel, WindowStartsWithOwnWorkIfEarlierWorkStillRuns) {
  // The first step's kernel runs until 110 on another stream. The windows overlap.
  const ModeledTrace made(TraceBuilder()
                              .step(0, 0, 20)
                              .kernel(kGemm, 5, 10, 100)
                              .step(1, 20, 20)
                              .kernel(kGemm, 25, 30, 30, {.stream = 8})
                              .trace());
  EXPECT_EQ(step_of(made, 1).window, us(30, 60));
  EXPECT_EQ(times_of(step_of(made, 1)),
            (Times{.cpu = 20, .step = 30, .latency = 40, .gpu = 30, .busy = 30}));
}

TEST(StepModel, WindowFollowsWorkThatWaitsInTheQueue) {
  // Between steps, a kernel is launched at 30. It waits until 60, although nothing runs before. The
  // second step starts at 40, and its own work at 100.
  const ModeledTrace made(TraceBuilder()
                              .step(0, 0, 20)
                              .kernel(kGemm, 5, 10, 10)
                              .kernel(kGemm, 30, 60, 30)
                              .step(1, 40, 20)
                              .kernel(kGemm, 50, 100, 10)
                              .trace());
  EXPECT_EQ(step_of(made, 1).window, us(90, 110));
}

TEST(StepModel, WindowOfAStepThatWaitsForItsWorkIsTheStep) {
  // Each step synchronizes, so that nothing runs when the next one starts.
  TraceBuilder builder;
  for (int64_t i = 0; i < 2; ++i) {
    const int64_t at = 100 * i;
    builder.step(i, at, 100).kernel(kGemm, at + 10, at + 15, 70);
    builder.call("cudaDeviceSynchronize", at + 20, 70);
  }
  const ModeledTrace made(builder.trace());
  EXPECT_EQ(step_of(made, 1).window, us(100, 200));
  EXPECT_EQ(step_of(made, 1).latency_ns, step_of(made, 1).step_ns);
}

TEST(StepModel, WorkOfOthersIsNeitherBusyNorIdle) {
  // Own work from 10 to 60, work without a launch from 40 to 80. Others: 60 to 80.
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 100)
                              .kernel(kGemm, 5, 10, 50)
                              .unlaunched("of nobody", 40, 40, {.stream = 8})
                              .trace());
  EXPECT_EQ(times_of(step_of(made)), (Times{.cpu = 100,
                                            .step = 100,
                                            .latency = 100,
                                            .gpu = 50,
                                            .busy = 50,
                                            .others = 20,
                                            .idle = 30}));
}

TEST(StepModel, WorkFromBeforeTheRecordingDelaysTheFirstStep) {
  // Work without a launch that runs before all other work was launched before the recording, even
  // if it starts after the step. It ends at 45, own work runs from 50 to 90.
  const ModeledTrace made(
      TraceBuilder().step(1, 0, 60).unlaunched("earlier", 5, 40).kernel(kGemm, 15, 50, 40).trace());
  EXPECT_EQ(step_of(made).window, us(45, 90));
  EXPECT_EQ(times_of(step_of(made)),
            (Times{.cpu = 60, .step = 45, .latency = 90, .gpu = 40, .busy = 40, .idle = 5}));
}

TEST(StepModel, WithoutOwnWorkTheWindowIsTheTimeOnTheHost) {
  // The kernel of the first step runs until 210.
  const ModeledTrace made(
      TraceBuilder().step(0, 0, 50).kernel(kGemm, 5, 10, 200).step(1, 100, 150).trace());
  EXPECT_EQ(times_of(step_of(made, 1)),
            (Times{.cpu = 150, .step = 150, .latency = 150, .others = 110, .idle = 40}));
}

TEST(StepModel, WithoutADeviceTheStepIsIdle) {
  const ModeledTrace made(TraceBuilder().step(1, 0, 50).op("aten::mm", 10, 20).trace());
  EXPECT_EQ(made.models.shown_device(), nullptr);
  EXPECT_EQ(times_of(step_of(made)), (Times{.cpu = 50, .step = 50, .latency = 50, .idle = 50}));
  EXPECT_TRUE(made.models.gaps(step_of(made)).empty());
}

TEST(StepModel, WorkBeforeItsLaunchIsClippedToTheWindow) {
  // The clock of the GPU is 20 us behind: the kernel of 40 us starts before the step.
  const ModeledTrace made(TraceBuilder().step(1, 100, 100).kernel(kGemm, 110, 90, 40).trace());
  EXPECT_EQ(step_of(made).window, us(100, 200));
  EXPECT_EQ(times_of(step_of(made)),
            (Times{.cpu = 100, .step = 100, .latency = 100, .gpu = 40, .busy = 30, .idle = 70}));
}

TEST(StepModel, IsMeasuredOnTheBusiestDevice) {
  // Device 0 runs for 30 us, device 1 for 80.
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 100)
                              .kernel(kGemm, 5, 10, 30)
                              .kernel(kGemm, 7, 15, 80, {.device = 1})
                              .trace());
  ASSERT_NE(made.models.shown_device(), nullptr);
  EXPECT_EQ(made.models.shown_device()->device(), 1);
  EXPECT_EQ(times_of(step_of(made)),
            (Times{.cpu = 100, .step = 100, .latency = 100, .gpu = 110, .busy = 80, .idle = 20}));
  const TimeShares first = shares_of(made, 0, 0);
  EXPECT_EQ(first.window_ns, 100000);
  EXPECT_EQ(first.busy_ns, 30000);
  EXPECT_EQ(first.idle_ns, 70000);
  const TimeShares second = shares_of(made, 0, 1);
  EXPECT_EQ(second.window_ns, 100000);
  EXPECT_EQ(second.busy_ns, 80000);
  EXPECT_EQ(second.idle_ns, 20000);
}

TEST(StepModel, WindowEndsWithTheLastWorkOfAnyDevice) {
  // Device 0 is the busiest, device 1 ends last, at 130.
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 100)
                              .kernel(kGemm, 5, 10, 80)
                              .kernel(kGemm, 7, 100, 30, {.device = 1})
                              .trace());
  EXPECT_EQ(step_of(made).window, us(0, 130));
  EXPECT_EQ(shares_of(made, 0, 0).idle_ns, 50000);
  EXPECT_EQ(shares_of(made, 0, 1).idle_ns, 100000);
}

TEST(StepModel, WorkOfOtherDevicesDoesNotDelayTheWindow) {
  // The first step's work on device 1 runs until 310. The second step uses device 0 only, which is
  // free when it starts.
  const ModeledTrace made(TraceBuilder()
                              .step(0, 0, 50)
                              .kernel(kGemm, 5, 10, 30)
                              .kernel(kGemm, 7, 10, 300, {.device = 1})
                              .step(1, 50, 50)
                              .kernel(kGemm, 60, 70, 20)
                              .trace());
  EXPECT_EQ(step_of(made, 1).window, us(50, 100));
}

// The last device has the least work and is left out. That does not move the window of its step.
TEST(StepModel, WindowDoesNotDependOnDevicesThatAreLeftOut) {
  TraceBuilder builder;
  builder.step(0, 0, 100);
  for (int64_t device = 0; device < static_cast<int64_t>(kMaxDevices); ++device) {
    for (int64_t i = 0; i < 2; ++i) {
      builder.kernel(kGemm, 10 + 5 * i, 20 + 5 * i, 5, {.device = device});
    }
  }
  builder.step(1, 200, 100).kernel(kGemm, 210, 250, 10, {.device = kMaxDevices});
  const ModeledTrace made(builder.trace());
  EXPECT_EQ(made.models.devices().size(), kMaxDevices);
  EXPECT_EQ(step_of(made, 1).window, us(200, 300));
}

TEST(StepParts, CopiesUnderKernelsAreNotExposed) {
  // Compute 10 to 50, a copy 30 to 70 and a collective 60 to 90. Only the copy runs from 50 to 60.
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 100)
                              .kernel(kGemm, 1, 10, 40)
                              .copy(kHtoD, 3, 30, 40, {.stream = 8})
                              .kernel(kNccl, 5, 60, 30, {.stream = 9})
                              .trace());
  const TimeShares shares = shares_of(made);
  EXPECT_EQ(shares.busy_ns, 80000);
  EXPECT_EQ(shares.compute_ns, 40000);
  EXPECT_EQ(shares.copies_ns, 40000);
  EXPECT_EQ(shares.exposed_copies_ns, 10000);
  EXPECT_EQ(shares.communication_ns, 30000);
  EXPECT_EQ(shares.exposed_communication_ns, 30000);
  EXPECT_EQ(shares.idle_ns, 20000);
}

TEST(StepParts, CommunicationUnderComputeIsNotExposed) {
  // Compute 10 to 50, a collective 30 to 80.
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 100)
                              .kernel(kGemm, 1, 10, 40)
                              .kernel(kNccl, 3, 30, 50, {.stream = 9})
                              .trace());
  const TimeShares shares = shares_of(made);
  EXPECT_EQ(shares.compute_ns, 40000);
  EXPECT_EQ(shares.communication_ns, 50000);
  EXPECT_EQ(shares.exposed_communication_ns, 30000);
  EXPECT_EQ(shares.busy_ns, 70000);
}

TEST(StepParts, OnlyOwnedWorkHidesCommunication) {
  // A kernel of nobody from 20 to 60 hides nothing of the step's collective from 10 to 80.
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 100)
                              .kernel(kNccl, 3, 10, 70)
                              .unlaunched(kGemm, 20, 40, {.stream = 8})
                              .trace());
  const TimeShares shares = shares_of(made);
  EXPECT_EQ(shares.compute_ns, 0);
  EXPECT_EQ(shares.exposed_communication_ns, 70000);
  EXPECT_EQ(shares.busy_ns, 70000);
  EXPECT_EQ(shares.others_ns, 0);
}

TEST(StepGaps, CoverTheIdleTimeOfTheWindow) {
  // Idle from 0 to 15 and from 35 to 100. The operator launches at 10 and returns at 30.
  const ModeledTrace made(
      TraceBuilder().step(1, 0, 100).op("aten::mm", 5, 25).kernel(kGemm, 10, 15, 20).trace());
  const std::vector<IdleGap> gaps = made.models.gaps(step_of(made));
  IdleCauses sum = sum_of(gaps);
  EXPECT_EQ(sum.total_ns(), step_of(made).idle_ns);
  EXPECT_EQ(sum.launch_latency_ns, 3000);  // the call takes 2 us, the kernel starts 3 us later
  const auto host = [&](HostActivity activity) { return sum.host[static_cast<size_t>(activity)]; };
  EXPECT_EQ(host(HostActivity::kDispatch), 5000);
  EXPECT_EQ(host(HostActivity::kLaunching), 2000);
  EXPECT_EQ(host(HostActivity::kBetweenOps), 5000 + 65000);
  EXPECT_EQ(gaps.front().when.begin, 0);
  EXPECT_EQ(gaps.back().when.end, 100000);
}

// Some programs mark steps in a category of their own, which is not a host event.
TEST(StepGaps, CoverStepsOfOtherCategories) {
  const ModeledTrace made(TraceBuilder()
                              .host(trace::Category::kOther, "ProfilerStep#1", 0, 200)
                              .op("aten::mm", 50, 10)
                              .kernel(kGemm, 52, 60, 20)
                              .trace());
  const StepModel& step = step_of(made);
  EXPECT_EQ(times_of(step),
            (Times{.cpu = 200, .step = 200, .latency = 200, .gpu = 20, .busy = 20, .idle = 180}));
  EXPECT_EQ(sum_of(made.models.gaps(step)).total_ns(), step.idle_ns);
}

TEST(StepGaps, AreNotInAnEmptyWindow) {
  // An operator of zero length, while the GPU is idle.
  const ModeledTrace made(
      TraceBuilder().op("aten::add", 0, 5).op("aten::mm", 10, 0).kernel(kGemm, 20, 30, 10).trace());
  const StepGroup group = made.models.named("aten::mm");
  EXPECT_EQ(group.steps.at(0).step_ns, 0);
  EXPECT_EQ(group.steps[0].busy_share(), 0);
  EXPECT_TRUE(made.models.gaps(group.steps[0]).empty());
}

TEST(Annotations, OwnLaunchesOfOtherThreads) {
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 200)
                              .annotation("backward", 0, 100)
                              .op("MmBackward0", 10, 40, {.thread = 2})
                              .kernel(kGemm, 20, 25, 90, {.thread = 2})
                              .trace());
  ASSERT_EQ(made.models.annotations().size(), 1U);
  const StepGroup& group = made.models.annotations()[0];
  EXPECT_EQ(group.name, "backward");
  EXPECT_EQ(times_of(group.steps.at(0)),
            (Times{.cpu = 100, .step = 115, .latency = 115, .gpu = 90, .busy = 90, .idle = 25}));
  EXPECT_EQ(group.steps[0].kernels, 1);
}

TEST(Operators, OwnOnlyLaunchesOfTheirThreadThatAreNestedInThem) {
  // Another thread launches a kernel while aten::linear runs. It runs from 30 to 70, the own one
  // from 25 to 55.
  const ModeledTrace made(TraceBuilder()
                              .annotation("fwd", 0, 100)
                              .op("aten::linear", 10, 30)
                              .op("aten::mm", 15, 20)
                              .kernel(kGemm, 20, 25, 30)
                              .op("aten::add", 50, 20)
                              .kernel("other", 22, 30, 40, {.stream = 8, .thread = 2})
                              .trace());
  for (const char* name : {"aten::linear", "aten::mm"}) {
    const StepGroup group = made.models.named(name);
    EXPECT_TRUE(group.of_ops);
    EXPECT_EQ(group.steps.at(0).kernels, 1) << name;
    EXPECT_EQ(group.steps[0].launches, 1) << name;
  }
  EXPECT_EQ(times_of(made.models.named("aten::linear").steps.at(0)),
            (Times{.cpu = 30, .step = 45, .latency = 45, .gpu = 30, .busy = 30, .idle = 15}));
  EXPECT_EQ(times_of(made.models.named("aten::add").steps.at(0)),
            (Times{.cpu = 20, .step = 20, .latency = 20, .others = 20}));
  EXPECT_EQ(made.models.named("fwd").steps.at(0).kernels, 2);
  EXPECT_FALSE(made.models.named("fwd").of_ops);
  EXPECT_TRUE(made.models.named("nothing").steps.empty());
}

TEST(Operators, OfOneNameMayBeNested) {
  const ModeledTrace made(TraceBuilder()
                              .op("aten::sum", 0, 100)
                              .op("aten::sum", 10, 40)
                              .kernel(kGemm, 20, 25, 10)
                              .kernel(kGemm, 60, 65, 10)
                              .trace());
  const StepGroup group = made.models.named("aten::sum");
  ASSERT_EQ(group.steps.size(), 2U);
  EXPECT_EQ(group.steps[0].kernels, 2);
  EXPECT_EQ(group.steps[1].kernels, 1);
  EXPECT_EQ(group.steps[0].period_ns, 10000);
}

TEST(StepModel, AGraphLaunchOwnsAllItsKernels) {
  // 20 to 30, 30 to 50 and, on another stream, 45 to 60.
  const ModeledTrace made(TraceBuilder()
                              .step(1, 0, 100)
                              .launch("cudaGraphLaunch", 10, 5)
                              .and_kernel("a", 20, 10)
                              .and_kernel("b", 30, 20)
                              .and_kernel("c", 45, 15, {.stream = 8})
                              .trace());
  EXPECT_EQ(step_of(made).kernels, 3);
  EXPECT_EQ(step_of(made).launches, 1);
  EXPECT_EQ(times_of(step_of(made)),
            (Times{.cpu = 100, .step = 100, .latency = 100, .gpu = 45, .busy = 40, .idle = 60}));
}

TEST(WholeTrace, LastsFromTheFirstEventToTheLastWork) {
  // From the operator at 5 to the end of the kernel at 90. The host synchronizes until 100.
  const ModeledTrace made(TraceBuilder()
                              .op("aten::mm", 5, 20)
                              .kernel(kGemm, 10, 30, 60)
                              .call("cudaDeviceSynchronize", 40, 60)
                              .trace());
  EXPECT_TRUE(made.models.steps().is_whole_trace());
  const StepModel& whole = made.models.whole_trace().steps.at(0);
  EXPECT_EQ(whole.event, trace::kNoEvent);
  EXPECT_EQ(whole.window, us(5, 90));
  EXPECT_EQ(whole.step_ns, 85000);
  EXPECT_EQ(whole.busy_ns, 60000);
  EXPECT_EQ(whole.idle_ns, 25000);
  EXPECT_EQ(whole.syncs, 1);
}

TEST(WholeTrace, CpuTimeIsAtMostTheLatency) {
  const ModeledTrace made(
      TraceBuilder().kernel(kGemm, 10, 30, 60).call("cudaDeviceSynchronize", 40, 60).trace());
  const StepModel& whole = made.models.whole_trace().steps.at(0);
  EXPECT_LE(whole.cpu_ns, whole.latency_ns);
}

TEST(WholeTrace, OwnsWorkWithoutALaunch) {
  const ModeledTrace made(
      TraceBuilder().op("aten::mm", 0, 10).unlaunched("of nobody", 20, 30).trace());
  const StepModel& whole = made.models.whole_trace().steps.at(0);
  EXPECT_EQ(whole.kernels, 1);
  EXPECT_EQ(whole.window, us(0, 50));
  EXPECT_EQ(whole.others_ns, 0);
}

TEST(WholeTrace, OfAnEmptyTraceIsEmpty) {
  const ModeledTrace made(trace::Trace{});
  EXPECT_EQ(times_of(made.models.steps().steps.at(0)), Times{});
  EXPECT_EQ(made.models.steps().medians().step_ns, 0);
}

TEST(JudgedGroup, IsTheSteps) {
  const ModeledTrace made(TraceBuilder().step(1, 0, 50).kernel(kGemm, 5, 10, 30).trace());
  EXPECT_EQ(&made.models.judged(), &made.models.steps());
  EXPECT_FALSE(made.models.judged().is_whole_trace());
}

TEST(JudgedGroup, IsTheWholeTraceIfLaunchesAreMissing) {
  // 30 us of the step, and 31 us of nobody.
  const auto with_work_of_nobody = [](int64_t dur) {
    return TraceBuilder()
        .step(1, 0, 100)
        .kernel(kGemm, 5, 10, 30)
        .unlaunched("of nobody", 50, dur)
        .trace();
  };
  const ModeledTrace missing(with_work_of_nobody(31));
  EXPECT_TRUE(missing.index.ownership.are_launches_missing());
  EXPECT_TRUE(missing.models.judged().is_whole_trace());
  EXPECT_FALSE(missing.models.steps().is_whole_trace());
  const ModeledTrace half(with_work_of_nobody(30));
  EXPECT_FALSE(half.index.ownership.are_launches_missing());
  EXPECT_FALSE(half.models.judged().is_whole_trace());
}

TEST(JudgedGroup, IsTheWholeTraceIfStepsOwnNothing) {
  const ModeledTrace made(TraceBuilder().step(1, 0, 10).kernel(kGemm, 20, 30, 10).trace());
  EXPECT_TRUE(made.models.judged().is_whole_trace());
}

TEST(JudgedGroup, IsTheStepsWithoutADevice) {
  const ModeledTrace made(TraceBuilder().step(1, 0, 10).trace());
  EXPECT_FALSE(made.models.judged().is_whole_trace());
}

// Before PyTorch 1.13, steps are recorded as operators. They are steps nevertheless.
TEST(Annotations, AStepThatIsAnOperatorHasTheSameTimesByName) {
  const ModeledTrace made(TraceBuilder()
                              .op("ProfilerStep#1", 0, 100)
                              .kernel(kGemm, 10, 20, 30)
                              .kernel(kGemm, 40, 60, 30, {.thread = 2})
                              .trace());
  EXPECT_EQ(step_of(made).kernels, 2);
  const StepGroup named = made.models.named("ProfilerStep#1");
  EXPECT_EQ(named.steps.at(0).kernels, 2);
  EXPECT_EQ(times_of(named.steps[0]), times_of(step_of(made)));
}

// A step for each time, with a kernel of that time. The host is free of other work.
ModeledTrace with_step_times(const std::vector<int64_t>& times) {
  TraceBuilder builder;
  int64_t at = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    builder.step(static_cast<int64_t>(i), at, times[i]).kernel(kGemm, at, at, times[i]);
    at += times[i];
  }
  return ModeledTrace(builder.trace());
}

TEST(StepGroup, StepsAboveTwiceTheMedianAreCold) {
  // The median of 100, 110, 201 and 1000 is 155.5.
  const ModeledTrace made = with_step_times({1000, 100, 110, 201});
  const auto& steps = made.models.steps().steps;
  EXPECT_TRUE(steps[0].cold);
  EXPECT_FALSE(steps[1].cold);
  EXPECT_FALSE(steps[2].cold);
  EXPECT_FALSE(steps[3].cold);
  // The median is 100. Exactly twice is not cold.
  const ModeledTrace twice = with_step_times({200, 100, 100, 100, 201});
  EXPECT_FALSE(twice.models.steps().steps[0].cold);
  EXPECT_TRUE(twice.models.steps().steps[4].cold);
}

TEST(StepGroup, StepTimesDecideWhatIsCold) {
  // All steps take 10 us on the host. The first one runs for 300 us, the others for 100.
  TraceBuilder builder;
  int64_t free = 0;
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t dur = i == 0 ? 300 : 100;
    builder.step(i, 10 * i, 10).kernel(kGemm, 10 * i, free, dur);
    free += dur;
  }
  const ModeledTrace made(builder.trace());
  EXPECT_TRUE(step_of(made, 0).cold);
  EXPECT_FALSE(step_of(made, 1).cold);
}

TEST(StepGroup, ShownStepIsTheWarmOneWithTheMedianTime) {
  EXPECT_EQ(with_step_times({100}).models.steps().shown(), 0U);
  EXPECT_EQ(with_step_times({120, 100, 110}).models.steps().shown(), 2U);
  // 1000 is cold. Of 100, 110 and 120, it is 110.
  EXPECT_EQ(with_step_times({1000, 120, 100, 110}).models.steps().shown(), 3U);
  // Of an even number, the faster of the two in the middle: 110 of 100, 110, 120 and 130.
  EXPECT_EQ(with_step_times({120, 110, 130, 100}).models.steps().shown(), 1U);
  // Equal times stay in order.
  EXPECT_EQ(with_step_times({100, 100, 100, 100}).models.steps().shown(), 1U);
}

TEST(StepGroup, StepsWithoutWorkAreNotShownIfAnyHasWork) {
  // Steps of 100, 200, 100 and 400 us, of which the second and the last have work. The last one is
  // cold: the median is 150.
  const ModeledTrace made(TraceBuilder()
                              .step(0, 0, 100)
                              .step(1, 100, 200)
                              .kernel(kGemm, 110, 120, 10)
                              .step(2, 300, 100)
                              .step(3, 400, 400)
                              .kernel(kGemm, 410, 420, 10)
                              .trace());
  EXPECT_TRUE(step_of(made, 3).cold);
  EXPECT_EQ(made.models.steps().warm(), std::vector<size_t>{1});
  EXPECT_EQ(made.models.steps().shown(), 1U);
}

TEST(StepGroup, ColdStepsAreUsedIfNoOtherHasWork) {
  // Steps of 10, 10 and 100 us, of which the last has work.
  const ModeledTrace made(TraceBuilder()
                              .step(0, 0, 10)
                              .step(1, 10, 10)
                              .step(2, 20, 100)
                              .kernel(kGemm, 30, 40, 10)
                              .trace());
  EXPECT_TRUE(step_of(made, 2).cold);
  EXPECT_EQ(made.models.steps().warm(), std::vector<size_t>{2});
}

TEST(StepGroup, AllStepsCountIfNoneHasWork) {
  const ModeledTrace made(TraceBuilder().step(0, 0, 10).step(1, 10, 12).step(2, 22, 11).trace());
  EXPECT_FALSE(made.models.steps().has_work());
  EXPECT_EQ(made.models.steps().shown(), 2U);
}

TEST(StepGroup, MediansAreOverAllInstances) {
  // Steps of 100, 110, 200 and 500 us, the last of which is cold. The third has two kernels and a
  // memset, the others have one kernel. The GPU is busy for 50, 100, 31 and 450 us.
  TraceBuilder builder;
  const int64_t starts[] = {0, 100, 210, 410};
  const int64_t durations[] = {100, 110, 200, 500};
  const int64_t kernels[] = {50, 100, 20, 450};
  for (int64_t i = 0; i < 4; ++i) {
    builder.step(i, starts[i], durations[i]).kernel(kGemm, starts[i], starts[i] + 5, kernels[i]);
  }
  builder.kernel(kGemm, 300, 305, 10).memset(320, 325, 1);  // in the third step
  const ModeledTrace made(builder.trace());
  EXPECT_TRUE(step_of(made, 3).cold);
  const MedianMeasures median = made.models.steps().medians();
  EXPECT_EQ(median.step_ns, 155e3);  // of 110 and 200
  EXPECT_EQ(median.cpu_ns, 155e3);
  EXPECT_EQ(median.busy_ns, 75e3);  // of 50 and 100
  EXPECT_EQ(median.gpu_ns, 75e3);
  EXPECT_EQ(median.idle_ns, 50e3);  // of 50, 10, 169 and 50
  // Of 0.5, 0.909, 0.155 and 0.9. It is not 75 / 155.
  EXPECT_DOUBLE_EQ(median.busy_share, (0.5 + 0.9) / 2);
  EXPECT_EQ(median.others_ns, 0);
  EXPECT_EQ(median.kernels, 1);
  EXPECT_EQ(median.kernels_min, 1);
  EXPECT_EQ(median.kernels_max, 2);
  EXPECT_EQ(median.memsets, 0);
  EXPECT_EQ(median.launches, 1);
}

TEST(DeviceWork, EndOfEarlierWorkFollowsTheLaunches) {
  // Launched at 10, 20 and 30. The second one runs first, on another stream.
  const ModeledTrace made(TraceBuilder()
                              .kernel(kGemm, 10, 100, 50)
                              .kernel(kGemm, 20, 25, 10, {.stream = 8})
                              .kernel(kGemm, 30, 150, 50)
                              .trace());
  const DeviceWork& device = made.models.devices().at(0);
  EXPECT_EQ(device.end_of_work_before(10000), INT64_MIN);
  EXPECT_EQ(device.end_of_work_before(10001), 150000);
  EXPECT_EQ(device.end_of_work_before(30000), 150000);
  EXPECT_EQ(device.end_of_work_before(30001), 200000);
  EXPECT_EQ(device.window(), us(25, 200));
}

}  // namespace
}  // namespace epi::analysis
