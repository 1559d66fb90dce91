// SPDX-License-Identifier: Apache-2.0
// Device time breakdown, checked against known values of recorded traces and against synthetic
// traces that can be counted by hand.
#include "epilogue/analysis/step/breakdown.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "tests/analysis/modeled_trace.h"
#include "tests/trace/trace_builder.h"

namespace epi::analysis {
namespace {

using trace::TraceBuilder;

TEST(Intervals, AreMergedSubtractedAndClipped) {
  const Intervals a = merged({{5, 8}, {1, 3}, {2, 4}, {8, 9}, {7, 7}});
  EXPECT_EQ(a, (Intervals{{1, 4}, {5, 9}}));
  EXPECT_EQ(length(a), 7);
  EXPECT_EQ(difference(a, {{0, 2}, {3, 6}, {8, 20}}), (Intervals{{2, 3}, {6, 8}}));
  EXPECT_EQ(difference(a, {}), a);
  EXPECT_EQ(clipped(a, 3, 6), (Intervals{{3, 4}, {5, 6}}));
  EXPECT_EQ(clipped(a, 4, 5), Intervals{});
}

TEST(BusyTimes, AreTheLengthOfTheIntervalsInAWindow) {
  std::mt19937 random(3);
  for (int run = 0; run < 200; ++run) {
    Intervals any;
    for (size_t i = random() % 8; i > 0; --i) {
      const int64_t begin = random() % 40;
      any.push_back({begin, begin + static_cast<int64_t>(random() % 8)});
    }
    const Intervals busy = merged(any);
    const BusyTimes times(busy);
    for (int64_t begin = -1; begin < 50; ++begin) {
      for (int64_t end = begin - 1; end < 50; ++end) {
        const int64_t expected = begin < end ? length(clipped(busy, begin, end)) : 0;
        ASSERT_EQ(times.in({begin, end}), expected) << run << ": " << begin << " to " << end;
      }
    }
  }
}

void expect_adds_up(const TimeShares& shares) {
  EXPECT_EQ(shares.compute_ns + shares.exposed_communication_ns + shares.exposed_copies_ns,
            shares.busy_ns);
  EXPECT_EQ(shares.busy_ns + shares.others_ns + shares.idle_ns, shares.window_ns);
}

// Kernel time, busy time and span in integer nanoseconds, computed by an independent program.
struct Reference {
  const char* trace;
  int64_t kernel_ns, busy_ns, span_ns;
};
constexpr Reference kReferences[] = {{"linear_eager.json", 8160, 8160, 285150},
                                     {"linear_compile.json", 8128, 8128, 875453},
                                     {"matmul_add_64.json", 8479, 8479, 228191},
                                     {"matmul_add_4096.json", 584509, 586909, 606654},
                                     {"mlp_eager.json", 699032, 703672, 1080025},
                                     {"mlp_compile.json", 606465, 611137, 1744930},
                                     {"mlp_cudagraph.json", 664223, 668669, 887135},
                                     {"mlp_liger.json", 626621, 631293, 1546424},
                                     {"llama_train.json.gz", 29267379, 29722931, 310823819}};

TEST(Breakdown, MatchesKnownValuesOfRecordedTraces) {
  for (const Reference& reference : kReferences) {
    const ModeledTrace made(std::string("traces/") + reference.trace);
    const auto devices = breakdown(made.models);
    ASSERT_EQ(devices.size(), 1U) << reference.trace;
    EXPECT_EQ(devices[0].shares.compute_ns, reference.kernel_ns) << reference.trace;
    EXPECT_EQ(devices[0].shares.busy_ns, reference.busy_ns) << reference.trace;
    EXPECT_EQ(devices[0].shares.window_ns, reference.span_ns) << reference.trace;
    EXPECT_EQ(devices[0].shares.others_ns, 0) << "the whole trace owns all work";
  }
}

TEST(Breakdown, PartsAddUpToTheWindow) {
  for (const char* file : kTraces) {
    SCOPED_TRACE(file);
    const ModeledTrace made(file);
    for (const DeviceBreakdown& device : breakdown(made.models)) {
      expect_adds_up(device.shares);
      EXPECT_EQ(device.idle.total_ns(), device.shares.idle_ns);
      int64_t stream_events = 0;
      for (const StreamBreakdown& stream : device.streams) {
        expect_adds_up(stream);
        EXPECT_EQ(stream.busy_ns + stream.others_ns, device.shares.busy_ns);
        EXPECT_EQ(stream.window_ns, device.shares.window_ns);
        stream_events += stream.gpu_events;
      }
      for (const StepBreakdown& step : device.steps) {
        expect_adds_up(step);
        EXPECT_EQ(step.idle.total_ns(), step.idle_ns);
      }
      int64_t kind_events = 0;
      for (const KindTime& kind : device.kinds) kind_events += kind.count;
      EXPECT_EQ(kind_events, stream_events);
    }
  }
}

// The idle causes of all parts of the window add up to those of the whole window.
TEST(Breakdown, IdleCausesOverTimeAddUp) {
  for (const Reference& reference : kReferences) {
    SCOPED_TRACE(reference.trace);
    const ModeledTrace made(std::string("traces/") + reference.trace);
    const DeviceBreakdown device = breakdown(made.models).at(0);
    for (const size_t parts : {1U, 7U, 400U}) {
      const auto over_time = idle_over_time(device.gaps, device.window, parts);
      ASSERT_EQ(over_time.size(), parts);
      IdleCauses sum;
      for (const IdleCauses& part : over_time) {
        for (size_t i = 0; i < sum.host.size(); ++i) sum.host[i] += part.host[i];
        sum.launch_latency_ns += part.launch_latency_ns;
        sum.between_ns += part.between_ns;
        sum.not_in_file_ns += part.not_in_file_ns;
        sum.unknown_ns += part.unknown_ns;
        EXPECT_LE(part.total_ns(), device.shares.window_ns / static_cast<int64_t>(parts) + 1);
      }
      EXPECT_EQ(sum.host, device.idle.host);
      EXPECT_EQ(sum.launch_latency_ns, device.idle.launch_latency_ns);
      EXPECT_EQ(sum.between_ns, device.idle.between_ns);
      EXPECT_EQ(sum.not_in_file_ns, device.idle.not_in_file_ns);
      EXPECT_EQ(sum.unknown_ns, device.idle.unknown_ns);
    }
  }
}

TEST(Breakdown, StepTimesAreThoseOfTheModel) {
  const ModeledTrace made("traces/mlp_eager.json");
  const DeviceBreakdown device = breakdown(made.models).at(0);
  const StepGroup& group = made.models.steps();
  ASSERT_EQ(device.steps.size(), group.steps.size());
  for (size_t i = 0; i < group.steps.size(); ++i) {
    EXPECT_EQ(device.steps[i].window_ns, group.steps[i].step_ns);
    EXPECT_EQ(device.steps[i].busy_ns, group.steps[i].busy_ns);
    EXPECT_EQ(device.steps[i].others_ns, group.steps[i].others_ns);
    EXPECT_EQ(device.steps[i].idle_ns, group.steps[i].idle_ns);
  }
}

// The only device of a trace.
DeviceBreakdown breakdown_of(const TraceBuilder& builder) {
  const ModeledTrace made(builder.trace());
  DeviceBreakdown device = breakdown(made.models).at(0);
  device.steps.clear();  // their names do not outlive the trace
  return device;
}

constexpr const char* kHtoD = "Memcpy HtoD (Pageable -> Device)";

// Runs on a stream of its own, and is launched within a microsecond.
trace::OnDevice on_stream(int64_t stream) { return {.stream = stream, .call_dur = 1}; }

TEST(Breakdown, OverlappedCommunicationIsNotExposed) {
  const auto device = breakdown_of(TraceBuilder()
                                       .kernel(kGemm, 0, 10, 100, on_stream(7))
                                       .kernel(kNccl, 2, 60, 100, on_stream(8))
                                       .copy(kHtoD, 4, 150, 20, on_stream(9)));
  EXPECT_EQ(device.shares.window_ns, 160000);
  EXPECT_EQ(device.shares.busy_ns, 160000);
  EXPECT_EQ(device.shares.compute_ns, 100000);
  EXPECT_EQ(device.shares.communication_ns, 100000);
  EXPECT_EQ(device.shares.exposed_communication_ns, 50000);
  EXPECT_EQ(device.shares.copies_ns, 20000);
  EXPECT_EQ(device.shares.exposed_copies_ns, 10000);
  EXPECT_EQ(device.shares.idle_ns, 0);
  EXPECT_EQ(device.streams.size(), 3U);
}

TEST(Breakdown, AttributesIdleTimeToHostActivity) {
  // The first kernel ends at 20 and the second starts at 100. In between, the CPU waits for the
  // device (20 to 40), loads data (40 to 70) and runs an operator from 80 on, which launches at 90.
  const auto device = breakdown_of(TraceBuilder()
                                       .kernel(kGemm, 0, 10, 10, on_stream(7))
                                       .call("cudaStreamSynchronize", 15, 25)
                                       .annotation("enumerate(DataLoader)#next", 40, 30)
                                       .op("aten::copy_", 45, 10)
                                       .op("aten::mm", 80, 12)
                                       .kernel(kGemm, 90, 100, 10, on_stream(7)));
  EXPECT_EQ(device.shares.idle_ns, 80000);
  const auto of = [&](HostActivity activity) {
    return device.idle.host[static_cast<size_t>(activity)];
  };
  EXPECT_EQ(of(HostActivity::kSynchronizing), 20000);
  EXPECT_EQ(of(HostActivity::kDataLoading), 30000);  // includes nested operators
  EXPECT_EQ(of(HostActivity::kDispatch), 10000);
  EXPECT_EQ(of(HostActivity::kLaunching), 1000);
  EXPECT_EQ(of(HostActivity::kBetweenOps), 10000);
  EXPECT_EQ(device.idle.launch_latency_ns, 9000);
  EXPECT_EQ(device.idle.between_ns, 0);
}

TEST(Breakdown, PlacesIdleCausesInTime) {
  // The device is busy from 10 to 20 and from 90 to 110. An operator from 20 to 70 launches at 69,
  // and the rest of the gap is launch latency. Parts are 25 long and start at 10.
  const auto device = breakdown_of(TraceBuilder()
                                       .kernel(kGemm, 0, 10, 10, on_stream(7))
                                       .op("aten::mm", 20, 50)
                                       .kernel(kGemm, 69, 90, 20, on_stream(7)));
  const auto over_time = idle_over_time(device.gaps, device.window, 4);
  ASSERT_EQ(over_time.size(), 4U);
  const auto dispatch = [&](size_t part) {
    return over_time[part].host[static_cast<size_t>(HostActivity::kDispatch)];
  };
  EXPECT_EQ(dispatch(0), 15000);
  EXPECT_EQ(dispatch(1), 25000);
  EXPECT_EQ(dispatch(2), 9000);  // up to the launch at 69
  EXPECT_EQ(over_time[2].launch_latency_ns, 15000);
  EXPECT_EQ(dispatch(3), 0);
  EXPECT_EQ(over_time[3].launch_latency_ns, 5000);
}

TEST(Breakdown, SeparatesQueueGapsFromHostIdleTime) {
  // All three were launched early, with gaps of three microseconds or none. Stream 8 waits for 7.
  const auto device = breakdown_of(TraceBuilder()
                                       .kernel(kGemm, 0, 10, 10, on_stream(7))
                                       .kernel(kGemm, 1, 23, 10, on_stream(7))
                                       .kernel(kGemm, 2, 33, 10, on_stream(8)));
  EXPECT_EQ(device.idle.between_ns, 3000);
  EXPECT_EQ(device.idle.host_ns(), 0);
  EXPECT_EQ(device.launches.queue_max, 2);
  EXPECT_EQ(device.launches.delay_median_ns, 22000);
  const TimeShares& second = device.streams.at(1);
  EXPECT_EQ(second.busy_ns, 10000);
  EXPECT_EQ(second.others_ns, 20000);
  EXPECT_EQ(second.idle_ns, 3000);
}

TEST(Breakdown, CountsShortKernelsAndCopies) {
  trace::OnDevice first = on_stream(7);
  first.args = R"({"bytes": 4000})";
  trace::OnDevice second = on_stream(7);
  second.args = R"({"bytes": 2000})";
  const auto device = breakdown_of(TraceBuilder()
                                       .kernel(kGemm, 0, 10, 4, on_stream(7))
                                       .kernel(kGemm, 1, 20, 5, on_stream(7))
                                       .copy(kHtoD, 2, 30, 10, first)
                                       .copy(kHtoD, 3, 50, 10, second));
  EXPECT_EQ(device.kernels, 2);
  EXPECT_EQ(device.short_kernels, 1);  // the one of 4 us; 5 us is not short
  EXPECT_EQ(device.short_ns, 4000);
  ASSERT_EQ(device.copies.size(), 1U);
  EXPECT_EQ(device.copies[0].name, kHtoD);
  EXPECT_EQ(device.copies[0].count, 2);
  EXPECT_EQ(device.copies[0].ns, 20000);
  EXPECT_EQ(device.copies[0].bytes, 6000);
}

TEST(Breakdown, IsEmptyWithoutDeviceWork) {
  const ModeledTrace made(TraceBuilder().op("aten::mm", 0, 10).trace());
  EXPECT_TRUE(breakdown(made.models).empty());
}

}  // namespace
}  // namespace epi::analysis
