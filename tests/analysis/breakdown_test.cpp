// SPDX-License-Identifier: Apache-2.0
// Device time breakdown, checked against known values of recorded traces and against synthetic
// traces that can be counted by hand.
#include "epilogue/analysis/time/breakdown.h"

#include <gtest/gtest.h>

#include <string>

#include "epilogue/analysis/index/intervals.h"
#include "epilogue/trace/reader.h"
#include "tests/analysis/test_data.h"

namespace epi::analysis {
namespace {

TEST(Intervals, AreMergedSubtractedAndClipped) {
  const Intervals a = merged({{5, 8}, {1, 3}, {2, 4}, {8, 9}, {7, 7}});
  EXPECT_EQ(a, (Intervals{{1, 4}, {5, 9}}));
  EXPECT_EQ(length(a), 7);
  EXPECT_EQ(difference(a, {{0, 2}, {3, 6}, {8, 20}}), (Intervals{{2, 3}, {6, 8}}));
  EXPECT_EQ(difference(a, {}), a);
  EXPECT_EQ(clipped(a, 3, 6), (Intervals{{3, 4}, {5, 6}}));
  EXPECT_EQ(clipped(a, 4, 5), Intervals{});
}

void expect_adds_up(const TimeShares& shares, const IdleCauses& idle) {
  EXPECT_EQ(shares.compute_ns + shares.exposed_communication_ns + shares.exposed_memory_ns +
                shares.idle_ns,
            shares.window_ns);
  EXPECT_EQ(idle.host_ns() + idle.launch_latency_ns + idle.between_ns + idle.other_streams_ns +
                idle.other_steps_ns + idle.not_in_file_ns + idle.unknown_ns,
            shares.idle_ns);
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
    const trace::Trace trace = read_data(std::string("traces/") + reference.trace);
    const auto devices = breakdown(TraceIndex(trace));
    ASSERT_EQ(devices.size(), 1U) << reference.trace;
    EXPECT_EQ(devices[0].shares.compute_ns, reference.kernel_ns) << reference.trace;
    EXPECT_EQ(devices[0].shares.busy_ns(), reference.busy_ns) << reference.trace;
    EXPECT_EQ(devices[0].shares.window_ns, reference.span_ns) << reference.trace;
  }
}

TEST(Breakdown, PartsAddUpToTheWindow) {
  for (const Reference& reference : kReferences) {
    const trace::Trace trace = read_data(std::string("traces/") + reference.trace);
    for (const DeviceBreakdown& device : breakdown(TraceIndex(trace))) {
      expect_adds_up(device.shares, device.idle);
      for (const auto& stream : device.streams) expect_adds_up(stream.shares, stream.idle);
      for (const auto& step : device.steps) expect_adds_up(step.shares, step.idle);
      int64_t kinds = 0;
      for (const auto& kind : device.kinds) kinds += kind.count;
      int64_t gpu_events = 0;
      for (const auto& stream : device.streams) gpu_events += stream.gpu_events;
      EXPECT_EQ(kinds, gpu_events);
    }
  }
}

// The idle causes of all parts of the window add up to those of the whole window.
TEST(Breakdown, IdleCausesOverTimeAddUp) {
  for (const Reference& reference : kReferences) {
    const trace::Trace trace = read_data(std::string("traces/") + reference.trace);
    for (const size_t parts : {1U, 7U, 400U}) {
      const DeviceBreakdown device = breakdown(TraceIndex(trace), parts).at(0);
      ASSERT_EQ(device.over_time.size(), parts);
      IdleCauses sum;
      for (const IdleCauses& part : device.over_time) {
        for (size_t i = 0; i < sum.host.size(); ++i) sum.host[i] += part.host[i];
        sum.launch_latency_ns += part.launch_latency_ns;
        sum.between_ns += part.between_ns;
        sum.unknown_ns += part.unknown_ns;
        const auto part_ns = device.shares.window_ns / static_cast<int64_t>(parts) + 1;
        EXPECT_LE(part.host_ns() + part.launch_latency_ns + part.between_ns + part.unknown_ns,
                  part_ns);
      }
      EXPECT_EQ(sum.host, device.idle.host) << reference.trace;
      EXPECT_EQ(sum.launch_latency_ns, device.idle.launch_latency_ns) << reference.trace;
      EXPECT_EQ(sum.between_ns, device.idle.between_ns) << reference.trace;
      EXPECT_EQ(sum.unknown_ns, device.idle.unknown_ns) << reference.trace;
    }
  }
}

TEST(Breakdown, StepTimesMatchStepMeasures) {
  const trace::Trace trace = read_data("traces/mlp_eager.json");
  const TraceIndex index(trace);
  const auto device = breakdown(index).at(0);
  const InstanceGroup group = steps(trace, index.ownership);
  ASSERT_EQ(device.steps.size(), group.instances.size());
  for (size_t i = 0; i < group.instances.size(); ++i) {
    EXPECT_EQ(device.steps[i].shares.window_ns, group.instances[i].measures.window_ns);
    EXPECT_EQ(device.steps[i].shares.busy_ns(), group.instances[i].measures.busy_ns);
  }
}

// Builds a trace with one thread and any number of streams. Times are in microseconds.
class TraceBuilder {
 public:
  TraceBuilder& host(const char* category, const char* name, int64_t begin, int64_t dur,
                     const std::string& args = "{}") {
    return add(category, name, "1", "1", begin, dur, args);
  }
  // Adds a launch call of one microsecond at `launch`, and the GPU event it starts.
  TraceBuilder& work(const char* category, const char* name, int64_t stream, int64_t launch,
                     int64_t begin, int64_t dur, int64_t bytes = 0) {
    const std::string args = fmt::format(R"({{"correlation": {}, "bytes": {}}})", ++count_, bytes);
    host("cuda_runtime", "cudaLaunchKernel", launch, 1, args);
    return add(category, name, "0", std::to_string(stream), begin, dur, args);
  }
  std::vector<DeviceBreakdown> breakdown_of(size_t parts = 0) const {
    trace_ = trace::read_bytes(text_ + "]", "synthetic").value();
    return breakdown(TraceIndex(trace_), parts);
  }

 private:
  TraceBuilder& add(const char* category, const char* name, const std::string& pid,
                    const std::string& tid, int64_t begin, int64_t dur, const std::string& args) {
    text_ += fmt::format(
        R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": {}, "tid": {}, "ts": {}, "dur": {}, "args": {}}})",
        text_ == "[" ? "" : ",", category, name, pid, tid, begin, dur, args);
    return *this;
  }

  std::string text_ = "[";
  int count_ = 0;
  mutable trace::Trace trace_;
};

constexpr const char* kGemm = "ampere_sgemm_32x32_tn";
constexpr const char* kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

TEST(Breakdown, OverlappedCommunicationIsNotExposed) {
  const auto device = TraceBuilder()
                          .work("kernel", kGemm, 7, 0, 10, 100)
                          .work("kernel", kNccl, 8, 2, 60, 100)
                          .work("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", 9, 4, 150, 20)
                          .breakdown_of()
                          .at(0);
  EXPECT_EQ(device.shares.window_ns, 160000);
  EXPECT_EQ(device.shares.compute_ns, 100000);
  EXPECT_EQ(device.shares.communication_ns, 100000);
  EXPECT_EQ(device.shares.exposed_communication_ns, 50000);
  EXPECT_EQ(device.shares.memory_ns, 20000);
  EXPECT_EQ(device.shares.exposed_memory_ns, 10000);
  EXPECT_EQ(device.shares.idle_ns, 0);
  EXPECT_EQ(device.streams.size(), 3U);
}

TEST(Breakdown, AttributesIdleTimeToHostActivity) {
  // The first kernel ends at 20 and the second starts at 100. In between, the CPU waits for the
  // device (20 to 40), loads data (40 to 70) and runs an operator from 80 on, which launches at 90.
  const auto device = TraceBuilder()
                          .work("kernel", kGemm, 7, 0, 10, 10)
                          .host("cuda_runtime", "cudaStreamSynchronize", 15, 25)
                          .host("user_annotation", "enumerate(DataLoader)#next", 40, 30)
                          .host("cpu_op", "aten::copy_", 45, 10)
                          .host("cpu_op", "aten::mm", 80, 12)
                          .work("kernel", kGemm, 7, 90, 100, 10)
                          .breakdown_of()
                          .at(0);
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
  const auto device = TraceBuilder()
                          .work("kernel", kGemm, 7, 0, 10, 10)
                          .host("cpu_op", "aten::mm", 20, 50)
                          .work("kernel", kGemm, 7, 69, 90, 20)
                          .breakdown_of(4)
                          .at(0);
  ASSERT_EQ(device.over_time.size(), 4U);
  const auto dispatch = [&](size_t part) {
    return device.over_time[part].host[static_cast<size_t>(HostActivity::kDispatch)];
  };
  EXPECT_EQ(dispatch(0), 15000);
  EXPECT_EQ(dispatch(1), 25000);
  EXPECT_EQ(dispatch(2), 9000);  // up to the launch at 69
  EXPECT_EQ(device.over_time[2].launch_latency_ns, 15000);
  EXPECT_EQ(dispatch(3), 0);
  EXPECT_EQ(device.over_time[3].launch_latency_ns, 5000);
}

TEST(Breakdown, SeparatesQueueGapsFromHostIdleTime) {
  // All three were launched early, with gaps of three microseconds or none. Stream 8 waits for 7.
  const auto device = TraceBuilder()
                          .work("kernel", kGemm, 7, 0, 10, 10)
                          .work("kernel", kGemm, 7, 1, 23, 10)
                          .work("kernel", kGemm, 8, 2, 33, 10)
                          .breakdown_of()
                          .at(0);
  EXPECT_EQ(device.idle.between_ns, 3000);
  EXPECT_EQ(device.idle.host_ns(), 0);
  EXPECT_EQ(device.launches.queue_max, 2);
  EXPECT_EQ(device.launches.delay_median_ns, 22000);
  const auto& second = device.streams.at(1);
  EXPECT_EQ(second.idle.other_streams_ns, 20000);
  EXPECT_EQ(second.idle.between_ns, 3000);
}

TEST(Breakdown, CountsShortKernelsAndCopies) {
  const char* kCopy = "Memcpy HtoD (Pageable -> Device)";
  const auto device = TraceBuilder()
                          .work("kernel", kGemm, 7, 0, 10, 4)
                          .work("kernel", kGemm, 7, 1, 20, 5)
                          .work("gpu_memcpy", kCopy, 7, 2, 30, 10, 4000)
                          .work("gpu_memcpy", kCopy, 7, 3, 50, 10, 2000)
                          .breakdown_of()
                          .at(0);
  EXPECT_EQ(device.kernels, 2);
  EXPECT_EQ(device.short_kernels, 1);  // the one of 4 us; 5 us is not short
  EXPECT_EQ(device.short_ns, 4000);
  ASSERT_EQ(device.copies.size(), 1U);
  EXPECT_EQ(device.copies[0].name, kCopy);
  EXPECT_EQ(device.copies[0].count, 2);
  EXPECT_EQ(device.copies[0].ns, 20000);
  EXPECT_EQ(device.copies[0].bytes, 6000);
}

TEST(Breakdown, IsEmptyWithoutDeviceWork) {
  EXPECT_TRUE(TraceBuilder().host("cpu_op", "aten::mm", 0, 10).breakdown_of().empty());
}

}  // namespace
}  // namespace epi::analysis
