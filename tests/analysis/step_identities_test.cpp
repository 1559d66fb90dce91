// SPDX-License-Identifier: Apache-2.0
// Identities of docs/measures.md on random traces. Every measure is compared with a count of
// microseconds, one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "epilogue/analysis/step/breakdown.h"
#include "tests/analysis/diagnosed_trace.h"
#include "tests/analysis/step_graph_of.h"
#include "tests/trace/test_files.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;
using trace::TraceBuilder;

constexpr int64_t kUs = 1000;
constexpr int kTracesPerKind = 150;

// Steps, annotations and operators on up to three threads, and work on the streams of one or two
// devices. Streams may overlap, hosts run ahead, and some work has no launch.
class RandomTrace {
 public:
  RandomTrace(uint32_t seed, int64_t devices) : random_(seed), devices_(devices) {}

  trace::Trace make() {
    int64_t at = between(0, 20);
    for (int64_t i = between(1, 5); i > 0; --i) {
      const int64_t dur = between(5, 60);
      builder_.step(i, at, dur);
      at += dur + (chance(2) ? 0 : between(0, 30));
    }
    end_ = at;
    for (int64_t i = between(0, 6); i > 0; --i) {
      builder_.annotation(chance(2) ? "forward" : "backward", time(), between(0, 60), thread());
    }
    for (int64_t i = between(0, 12); i > 0; --i) {
      builder_.op(chance(2) ? "aten::mm" : "aten::add", time(), between(0, 30), thread());
    }
    for (int64_t i = between(0, 3); i > 0; --i) {
      builder_.call("cudaDeviceSynchronize", time(), between(1, 40), thread());
    }
    for (int64_t i = between(0, 14); i > 0; --i) add_launch();
    for (int64_t i = chance(2) ? 0 : between(0, 3); i > 0; --i) {
      builder_.unlaunched(kGemm, time(), between(1, 40), lane());
    }
    return builder_.trace();
  }

 private:
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool chance(int64_t one_in) { return between(1, one_in) == 1; }
  int64_t time() { return between(0, end_); }
  trace::OnHost thread() { return {.thread = chance(2) ? 1 : between(1, 3)}; }
  trace::OnDevice lane() {
    return {.device = between(0, devices_ - 1), .stream = between(7, 8), .thread = thread().thread};
  }

  void add_launch() {
    const int64_t launch = time();
    const trace::OnDevice on = lane();
    if (chance(6)) {
      builder_.launch("cudaGraphLaunch", launch, 2, {.thread = on.thread});
      for (int64_t i = between(1, 4); i > 0; --i) {
        builder_.and_kernel(kGemm, launch + between(2, 60), between(1, 20), lane());
      }
      return;
    }
    // Sometimes the clock of the device is behind.
    int64_t begin = launch + (chance(10) ? between(-30, 0) : between(1, 20));
    int64_t& free = free_[on.device][on.stream - 7];
    if (!chance(8)) begin = std::max(begin, free);  // in the order of the stream
    const int64_t dur = between(1, 50);
    free = std::max(free, begin + dur);
    const int64_t kind = between(0, 5);
    if (kind == 0) builder_.memset(launch, begin, dur, on);
    if (kind == 1) builder_.copy("Memcpy HtoD (Pageable -> Device)", launch, begin, dur, on);
    if (kind == 2) builder_.kernel(kNccl, launch, begin, dur, on);
    if (kind > 2) builder_.kernel(kGemm, launch, begin, dur, on);
  }

  std::mt19937 random_;
  int64_t devices_;
  int64_t end_ = 0;
  int64_t free_[2][2] = {};  // when a stream of a device is free
  TraceBuilder builder_;
};

// Calls `check(made)` for many traces with one and two devices.
template <typename Check>
void for_random_traces(Check&& check) {
  for (const int64_t devices : {1, 2}) {
    for (uint32_t seed = 0; seed < kTracesPerKind; ++seed) {
      SCOPED_TRACE(testing::Message() << devices << " devices, seed " << seed);
      const ModeledTrace made(RandomTrace(seed, devices).make());
      check(made);
      if (testing::Test::HasFailure()) return;
    }
  }
}

// The steps, the whole trace, all annotations and two operators.
std::vector<StepGroup> groups_of(const ModeledTrace& made) {
  std::vector<StepGroup> groups = {made.models.steps(), made.models.whole_trace(),
                                   made.models.named("aten::mm"), made.models.named("aten::add")};
  for (const StepGroup& group : made.models.annotations()) groups.push_back(group);
  return groups;
}

template <typename Check>
void for_all_instances(Check&& check) {
  for_random_traces([&](const ModeledTrace& made) {
    for (const StepGroup& group : groups_of(made)) {
      for (const StepModel& step : group.steps) {
        SCOPED_TRACE(testing::Message() << step.name << " at " << step.host.begin / kUs);
        check(made, step);
      }
    }
  });
}

bool is_owned(const StepModel& step, EventId work) {
  return std::find(step.owned.work.begin(), step.owned.work.end(), work) != step.owned.work.end();
}

// What a device does in each microsecond of a window, counted one by one.
TimeShares counted_shares(const ModeledTrace& made, const StepModel& step, int64_t device) {
  TimeShares shares;
  for (int64_t at = step.window.begin; at < step.window.end; at += kUs) {
    bool compute = false;
    bool communication = false;
    bool copies = false;
    bool others = false;
    for (EventId id = 0; id < made.trace.size(); ++id) {
      const bool runs = trace::is_device_work(made.trace.category[id]) &&
                        device_of(made.trace, id) == device && made.trace.ts_ns[id] <= at &&
                        at < made.trace.end_ns(id);
      if (!runs) continue;
      const bool is_kernel = made.trace.category[id] == Category::kKernel;
      const bool is_nccl = made.trace.name_of(id) == kNccl;
      const bool is_own = is_owned(step, id);
      others |= !is_own;
      compute |= is_own && is_kernel && !is_nccl;
      communication |= is_own && is_nccl;
      copies |= is_own && !is_kernel;
    }
    const bool busy = compute || communication || copies;
    shares.window_ns += kUs;
    shares.busy_ns += busy ? kUs : 0;
    shares.compute_ns += compute ? kUs : 0;
    shares.communication_ns += communication ? kUs : 0;
    shares.exposed_communication_ns += communication && !compute ? kUs : 0;
    shares.copies_ns += copies ? kUs : 0;
    shares.exposed_copies_ns += copies && !compute && !communication ? kUs : 0;
    shares.others_ns += others && !busy ? kUs : 0;
    shares.idle_ns += others || busy ? 0 : kUs;
  }
  return shares;
}

void expect_equal(const TimeShares& shares, const TimeShares& expected) {
  EXPECT_EQ(shares.window_ns, expected.window_ns);
  EXPECT_EQ(shares.busy_ns, expected.busy_ns);
  EXPECT_EQ(shares.compute_ns, expected.compute_ns);
  EXPECT_EQ(shares.communication_ns, expected.communication_ns);
  EXPECT_EQ(shares.exposed_communication_ns, expected.exposed_communication_ns);
  EXPECT_EQ(shares.copies_ns, expected.copies_ns);
  EXPECT_EQ(shares.exposed_copies_ns, expected.exposed_copies_ns);
  EXPECT_EQ(shares.others_ns, expected.others_ns);
  EXPECT_EQ(shares.idle_ns, expected.idle_ns);
}

TEST(StepIdentities, SharesAreThoseOfEachMicrosecond) {
  for_all_instances([](const ModeledTrace& made, const StepModel& step) {
    for (const DeviceWork& device : made.models.devices()) {
      expect_equal(made.models.shares(step, device), counted_shares(made, step, device.device()));
    }
  });
}

void expect_parts_add_up(const ModeledTrace& made, const StepModel& step) {
  EXPECT_EQ(step.busy_ns + step.others_ns + step.idle_ns, step.step_ns);
  EXPECT_LE(step.step_ns, step.latency_ns);
  if (step.event != kNoEvent) {
    EXPECT_LE(step.cpu_ns, step.latency_ns);
  }
  for (const DeviceWork& device : made.models.devices()) {
    const TimeShares shares = made.models.shares(step, device);
    EXPECT_EQ(shares.window_ns, step.step_ns);
    EXPECT_EQ(shares.busy_ns + shares.others_ns + shares.idle_ns, shares.window_ns);
    EXPECT_EQ(shares.compute_ns + shares.exposed_communication_ns + shares.exposed_copies_ns,
              shares.busy_ns);
  }
  if (const DeviceWork* device = made.models.shown_device()) {
    const TimeShares shares = made.models.shares(step, *device);
    EXPECT_EQ(step.busy_ns, shares.busy_ns);
    EXPECT_EQ(step.others_ns, shares.others_ns);
    EXPECT_EQ(step.idle_ns, shares.idle_ns);
  }
}

void expect_causes_add_up(const ModeledTrace& made, const StepModel& step) {
  for (const DeviceWork& device : made.models.devices()) {
    const auto gaps = clipped(made.models.gaps(device), step.window);
    const IdleCauses causes = sum_of(gaps);
    EXPECT_EQ(causes.total_ns(), made.models.shares(step, device).idle_ns);
    int64_t classes_ns = 0;
    for (const int64_t ns : sums_by_class(causes)) classes_ns += ns;
    EXPECT_EQ(classes_ns, causes.total_ns());
    int64_t covered_to = step.window.begin;
    for (const IdleGap& gap : gaps) {
      EXPECT_GE(gap.when.begin, covered_to);
      EXPECT_GE(gap.when.end, gap.when.begin);
      EXPECT_EQ(device.busy().in(gap.when), 0);
      covered_to = gap.when.end;
    }
    EXPECT_LE(covered_to, step.window.end);
  }
  if (made.models.shown_device() != nullptr) {
    EXPECT_EQ(sum_of(made.models.gaps(step)).total_ns(), step.idle_ns);
  }
}

TEST(StepIdentities, PartsAddUp) { for_all_instances(expect_parts_add_up); }

TEST(StepIdentities, CausesAddUpToTheIdleTime) { for_all_instances(expect_causes_add_up); }

TEST(StepIdentities, HoldForRecordedTraces) {
  for (const std::string& file : trace::all_traces()) {
    SCOPED_TRACE(file);
    const ModeledTrace made(file);
    for (const StepGroup& group : groups_of(made)) {
      SCOPED_TRACE(group.name);
      for (const StepModel& step : group.steps) {
        expect_parts_add_up(made, step);
        expect_causes_add_up(made, step);
      }
    }
  }
}

// The window of a trace with one device, by the definition.
Interval expected_window(const ModeledTrace& made, const StepModel& step) {
  const trace::Trace& trace = made.trace;
  int64_t last_end = INT64_MIN;
  int64_t first_start = INT64_MAX;
  for (const EventId id : step.owned.work) {
    last_end = std::max(last_end, trace.end_ns(id));
    first_start = std::min(first_start, trace.ts_ns[id]);
  }
  // By start, then by launch.
  const auto order = [&](EventId id) {
    return std::pair(trace.ts_ns[id], made.index.links.launch_ns[id]);
  };
  std::pair first_with_launch(INT64_MAX, INT64_MAX);
  for (EventId id = 0; id < trace.size(); ++id) {
    if (made.index.links.launch[id] == kNoEvent) continue;
    first_with_launch = std::min(first_with_launch, order(id));
  }
  int64_t earlier_end = step.host.begin;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace::is_device_work(trace.category[id])) continue;
    const bool from_before =
        made.index.links.launch[id] == kNoEvent && order(id) < first_with_launch;
    if (from_before || made.index.links.launch_ns[id] < step.host.begin) {
      earlier_end = std::max(earlier_end, trace.end_ns(id));
    }
  }
  const int64_t begin = std::max(step.host.begin, std::min(earlier_end, first_start));
  return {begin, std::max(step.host.end, last_end)};
}

TEST(StepIdentities, WindowsFollowTheDefinition) {
  for_all_instances([](const ModeledTrace& made, const StepModel& step) {
    if (step.event == kNoEvent || step.owned.work.empty() || made.models.devices().size() != 1) {
      return;
    }
    const Interval expected = expected_window(made, step);
    EXPECT_EQ(step.window.begin, expected.begin);
    EXPECT_EQ(step.window.end, expected.end);
  });
}

TEST(StepIdentities, CountsAreThoseOfTheOwnedWork) {
  for_all_instances([](const ModeledTrace& made, const StepModel& step) {
    const bool of_ops =
        step.event != kNoEvent && made.trace.category[step.event] == Category::kCpuOp;
    int64_t events = 0;
    for (EventId id = 0; id < made.trace.size(); ++id) {
      if (!trace::is_device_work(made.trace.category[id])) continue;
      const EventId launch = made.index.links.launch[id];
      bool owns = launch != kNoEvent && made.trace.ts_ns[launch] >= step.host.begin &&
                  made.trace.ts_ns[launch] < step.host.end;
      if (step.event == kNoEvent) owns = true;
      if (of_ops && owns) owns = made.trace.lane[launch] == made.trace.lane[step.event];
      // Nested by time, but the tree nests an event in one that starts at the same time.
      if (!of_ops) {
        EXPECT_EQ(is_owned(step, id), owns);
      } else if (is_owned(step, id)) {
        EXPECT_TRUE(owns);
      }
      events += is_owned(step, id) ? 1 : 0;
    }
    EXPECT_EQ(step.kernels + step.memcpys + step.memsets, events);
    EXPECT_LE(step.launches, events);
  });
}

TEST(StepIdentities, BreakdownHasTheTimesOfTheModels) {
  for_random_traces([](const ModeledTrace& made) {
    for (const DeviceBreakdown& device : breakdown(made.models)) {
      EXPECT_EQ(device.idle.total_ns(), device.shares.idle_ns);
      EXPECT_EQ(device.shares.busy_ns + device.shares.idle_ns, device.shares.window_ns);
      for (const StreamBreakdown& stream : device.streams) {
        EXPECT_EQ(stream.busy_ns + stream.others_ns, device.shares.busy_ns);
      }
      for (const StepBreakdown& step : device.steps) {
        EXPECT_EQ(step.idle.total_ns(), step.idle_ns);
      }
    }
  });
}

// The critical path covers the window of each group's shown step, and retiming without a change
// keeps its time.
TEST(StepIdentities, PathsCoverTheWindows) {
  for_random_traces([](const ModeledTrace& made) {
    for (const StepGroup& group : groups_of(made)) {
      const auto found = group.steps.empty() ? std::nullopt : diagnose(made.models, group);
      if (!found) continue;
      SCOPED_TRACE(found->name);
      expect_path_covers_window(*found);
      EXPECT_EQ(found->graph->retimed({}).window_ns,
                found->graph_window.end - found->graph_window.begin);
      EXPECT_EQ(found->judged.size(), group.warm().size());
    }
  });
}

// The graph of every step is as long as its window, and a faster host never makes it longer.
TEST(StepIdentities, GraphsAreAsLongAsTheWindows) {
  for_all_instances([](const ModeledTrace& made, const StepModel& step) {
    if (step.event == kNoEvent || step.owned.work.empty()) return;
    const StepGraph graph = graph_of(made, step);
    EXPECT_EQ(graph.window_ns(), step.step_ns);
    int64_t path_ns = 0;
    for (const PathPart& part : graph.critical_path()) path_ns += part.end_ns - part.begin_ns;
    EXPECT_EQ(path_ns, step.step_ns);
    EXPECT_EQ(graph.retimed({}).window_ns, step.step_ns);
    StepChange faster;
    for (const Bound bound : {Bound::kDispatch, Bound::kLaunches, Bound::kSynchronizing}) {
      faster.scale[static_cast<size_t>(bound)] = 0;
    }
    const RetimedStep retimed = graph.retimed(faster);
    EXPECT_LE(retimed.window_ns, step.step_ns);
    EXPECT_GE(retimed.window_ns, 0);
    for (const int64_t ns : retimed.bounds) EXPECT_GE(ns, 0);
  });
}

}  // namespace
}  // namespace epi::analysis
