// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/profiler.h"

#include <gtest/gtest.h>

#include <fstream>
#include <memory>
#include <stdexcept>
#include <thread>

#include "epilogue/base/error.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/profile/cpu_kernel_lane.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/op_tree.h"
#include "tests/profile/events.h"

namespace epi::profile {
namespace {

using Names = std::vector<std::string>;
using trace::Category;
using trace::EventId;

TEST(Profiler, RecordsNestedOperatorsAndKernels) {
  const Tensor x = zeros({4, 8});
  Profiler profiler;
  {
    const RecordFunction range("relu_fwd");
    relu(x);
  }
  t(x);
  profiler.stop();
  const trace::Trace& trace = profiler.trace();
  EXPECT_EQ(names_of(trace, Category::kUserAnnotation), Names{"relu_fwd"});
  EXPECT_EQ(names_of(trace, Category::kCpuOp),
            (Names{"aten::relu", "aten::t", "aten::transpose", "aten::as_strided"}));
  EXPECT_EQ(names_of(trace, Category::kKernel), Names{"pointwise_relu_f32"});
  const trace::OpTree tree = trace::build_op_tree(trace);
  const auto ops = events_of(trace, Category::kCpuOp);
  EXPECT_EQ(trace.name_of(tree.parent[ops[0]]), "relu_fwd");
  EXPECT_EQ(tree.parent[ops[1]], trace::kNoEvent);
  EXPECT_EQ(tree.parent[ops[3]], ops[2]);
}

// PyTorch records an autograd function that calls a custom kernel in the same way.
TEST(Profiler, RecordsPackageKernelAsOperator) {
  const std::vector<Tensor> inputs = {zeros({4, 8}), zeros({4, 8})};
  for (const bool shapes : {true, false}) {
    Profiler profiler({.record_shapes = shapes});
    const auto name = [] { return std::string("epilogue_glu_v1::gelu_and_mul"); };
    run_custom_op(name, inputs, [&] { return relu(inputs[0]); });
    profiler.stop();
    const trace::Trace& trace = profiler.trace();
    EXPECT_EQ(names_of(trace, Category::kCpuOp),
              (Names{"epilogue_glu_v1::gelu_and_mul", "aten::relu"}));
    const auto ops = events_of(trace, Category::kCpuOp);
    EXPECT_EQ(trace::build_op_tree(trace).parent[ops[1]], ops[0]);
    EXPECT_EQ(trace::find_value(trace.args_of(ops[0]), "Input Dims").value_or("none"),
              shapes ? "[[4, 8], [4, 8]]" : "none");
  }
}

TEST(Profiler, LinksKernelToItsOperator) {
  const Tensor x = zeros({4, 8});
  Profiler profiler;
  relu(x);
  profiler.stop();
  const trace::Trace& trace = profiler.trace();
  const EventId op = events_of(trace, Category::kCpuOp).at(0);
  const EventId kernel = events_of(trace, Category::kKernel).at(0);
  EXPECT_EQ(trace.external_id[kernel], trace.external_id[op]);
  EXPECT_GE(trace.ts_ns[kernel], trace.ts_ns[op]);
  EXPECT_LE(trace.end_ns(kernel), trace.end_ns(op));
  EXPECT_EQ(trace::find_value(trace.args_of(kernel), "bytes"), "256");
  EXPECT_EQ(trace::find_value(trace.args_of(kernel), "flops"), "32");
  const trace::Lane& lane = trace.lanes[trace.lane[kernel]];
  EXPECT_EQ(lane.pid, kCpuKernelsPid);
  EXPECT_EQ(lane.tid, 0);
  // The flow connects the operator's thread with the kernel's lane.
  const auto flows = events_of(trace, Category::kAc2g);
  ASSERT_EQ(flows.size(), 2);
  EXPECT_EQ(trace.phase[flows[0]], trace::Phase::kFlowStart);
  EXPECT_EQ(trace.lane[flows[0]], trace.lane[op]);
  EXPECT_EQ(trace.lane[flows[1]], trace.lane[kernel]);
  EXPECT_EQ(trace.correlation[flows[0]], trace.correlation[kernel]);
}

TEST(Profiler, KeepsActiveStepsOfSchedule) {
  const Tensor x = zeros({4});
  Profiler profiler({.schedule = Schedule{1, 1, 3}});
  for (int i = 0; i < 7; ++i) {
    relu(x);
    profiler.step();
  }
  const trace::Trace& trace = profiler.trace();
  EXPECT_EQ(names_of(trace, Category::kUserAnnotation),
            (Names{"ProfilerStep#2", "ProfilerStep#3", "ProfilerStep#4"}));
  EXPECT_EQ(names_of(trace, Category::kCpuOp), (Names{"aten::relu", "aten::relu", "aten::relu"}));
  const trace::OpTree tree = trace::build_op_tree(trace);
  const auto steps = events_of(trace, Category::kUserAnnotation);
  const auto ops = events_of(trace, Category::kCpuOp);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(tree.parent[ops[i]], steps[i]);
}

TEST(Profiler, DeliversEachCycleOfARepeatedSchedule) {
  std::vector<Names> cycles;
  const auto keep = [&](const trace::Trace& trace) {
    cycles.push_back(names_of(trace, Category::kUserAnnotation));
  };
  Profiler profiler({.schedule = Schedule{1, 0, 1, 2}, .on_trace_ready = keep});
  for (int i = 0; i < 6; ++i) profiler.step();
  EXPECT_EQ(cycles, (std::vector<Names>{{"ProfilerStep#1"}, {"ProfilerStep#3"}}));
}

TEST(Profiler, UnlimitedScheduleRunsUntilStopped) {
  int cycles = 0;
  Profiler profiler(
      {.schedule = Schedule{0, 1, 1, 0}, .on_trace_ready = [&](const trace::Trace&) { ++cycles; }});
  for (int i = 0; i < 7; ++i) profiler.step();
  EXPECT_EQ(cycles, 3);
  profiler.stop();  // in the only active step of the last cycle
  EXPECT_EQ(cycles, 4);
  profiler.stop();
  EXPECT_EQ(cycles, 4);
}

TEST(Profiler, RejectsASecondProfiler) {
  const Profiler profiler;
  EXPECT_THROW(Profiler(), Error);
}

TEST(Profiler, RemovesItsListenerWhenDestroyed) {
  std::make_unique<Profiler>(ProfilerOptions{.schedule = Schedule{0, 2, 1}}).reset();
  std::make_unique<Profiler>().reset();
  EXPECT_EQ(current_listener(), nullptr);
  EXPECT_NO_THROW(Profiler());
}

TEST(Profiler, DoesNotReplaceAnotherListener) {
  class Counter : public Listener {
   public:
    void op_begin(Op, Args) override {}
    void op_end(Op) override {}
    void annotation_begin(std::string_view) override {}
    void annotation_end() override {}
    void kernel(const KernelRun&) override {}
    void launch_begin(const LaunchCost&) override {}
    void launch_end() override {}
  };
  Counter counter;
  set_listener(&counter);
  EXPECT_THROW(Profiler(), Error);
  EXPECT_EQ(current_listener(), &counter);
  set_listener(nullptr);
}

TEST(Profiler, ContinuesScheduleAfterThrowingCallback) {
  std::vector<Names> cycles;
  Profiler profiler({.schedule = Schedule{0, 0, 1, 3}, .on_trace_ready = [&](const auto& trace) {
                       cycles.push_back(names_of(trace, Category::kUserAnnotation));
                       if (cycles.size() == 1) throw std::runtime_error("first");
                     }});
  EXPECT_THROW(profiler.step(), std::runtime_error);
  profiler.step();
  EXPECT_EQ(cycles, (std::vector<Names>{{"ProfilerStep#0"}, {"ProfilerStep#1"}}));
  profiler.stop();
  EXPECT_EQ(cycles.size(), 3);
  profiler.step();  // no effect after the end
  EXPECT_EQ(current_listener(), nullptr);
}

int64_t resident_bytes() {
  std::ifstream status("/proc/self/statm");
  int64_t total = 0;
  int64_t resident = 0;
  status >> total >> resident;
  return resident * 4096;
}

TEST(Profiler, FreesMemoryOfDroppedRecording) {
  constexpr int kOps = 1'000'000;  // 32 MB of log
  const Tensor x = zeros({4});
  const int64_t before = resident_bytes();
  int64_t recorded = 0;
  {
    const Profiler profiler;
    for (int i = 0; i < kOps; ++i) view(x, {2, 2});
    recorded = resident_bytes();
  }
  EXPECT_GT(recorded - before, 20'000'000);
  EXPECT_LT(resident_bytes() - before, 8'000'000);
}

// The thread's last tensor is freed after the recording of the thread has ended.
TEST(Profiler, HandlesAllocationsOfEndedThreads) {
  Profiler profiler({.profile_memory = true});
  std::thread([] {
    thread_local Tensor kept;
    kept = zeros({4});
    relu(kept);
  }).join();
  profiler.stop();
  EXPECT_EQ(names_of(profiler.trace(), Category::kCpuOp), Names{"aten::relu"});
}

TEST(Profiler, HasNoTraceBeforeTheFirstCycleEnds) {
  Profiler profiler({.schedule = Schedule{5, 1, 1}});
  profiler.step();
  profiler.stop();
  EXPECT_THROW(profiler.trace(), Error);
}

TEST(Profiler, RejectsInvalidSchedules) {
  EXPECT_THROW(Profiler({.schedule = Schedule{0, 0, 0}}), Error);
  EXPECT_THROW(Profiler({.schedule = Schedule{-1, 0, 1}}), Error);
  EXPECT_EQ(current_listener(), nullptr);
}

TEST(Profiler, EndsRangesOfThrowingCalls) {
  const Tensor a = zeros({2, 3});
  Profiler profiler;
  EXPECT_THROW(mm(a, a), Error);
  relu(a);
  profiler.stop();
  const trace::OpTree tree = trace::build_op_tree(profiler.trace());
  for (const EventId id : tree.order) EXPECT_EQ(tree.parent[id], trace::kNoEvent);
}

TEST(Profiler, EndsOpenRangesOnStop) {
  Profiler profiler;
  const RecordFunction outer("outer");
  relu(zeros({4}));
  profiler.stop();
  const trace::Trace& trace = profiler.trace();
  const EventId range = events_of(trace, Category::kUserAnnotation).at(0);
  const EventId op = events_of(trace, Category::kCpuOp).at(0);
  EXPECT_GE(trace.end_ns(range), trace.end_ns(op));
}

TEST(Profiler, DropsRangesStartedBeforeIt) {
  std::optional<Profiler> first(std::in_place);
  {
    const RecordFunction outer("outer");
    first.reset();
    Profiler second;
    relu(zeros({4}));
    second.stop();
    EXPECT_EQ(names_of(second.trace(), Category::kUserAnnotation), Names{});
    EXPECT_EQ(names_of(second.trace(), Category::kCpuOp), Names{"aten::relu"});
  }
}

TEST(Profiler, RecordsAllocations) {
  Profiler profiler({.profile_memory = true});
  empty({256});  // freed immediately
  profiler.stop();
  const trace::Trace& trace = profiler.trace();
  const auto events = events_of(trace, Category::kCpuInstantEvent);
  ASSERT_EQ(events.size(), 2);
  EXPECT_EQ(trace.name_of(events[0]), "[memory]");
  EXPECT_EQ(trace::find_value(trace.args_of(events[0]), "Bytes"), "1024");
  EXPECT_EQ(trace::find_value(trace.args_of(events[1]), "Bytes"), "-1024");
  EXPECT_EQ(trace::find_value(trace.args_of(events[0]), "Addr"),
            trace::find_value(trace.args_of(events[1]), "Addr"));
  EXPECT_EQ(trace.property("profile_memory"), "1");
}

TEST(Profiler, KeepsVeryLongNames) {
  const std::string name(1 << 20, 'n');
  Profiler profiler;
  std::make_unique<RecordFunction>(name).reset();
  profiler.stop();
  EXPECT_EQ(names_of(profiler.trace(), Category::kUserAnnotation), Names{name});
}

}  // namespace
}  // namespace epi::profile
