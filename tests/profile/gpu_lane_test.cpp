// SPDX-License-Identifier: Apache-2.0
// GPU records in the trace: their operator, times and arguments.
#include "epilogue/profile/gpu_lane.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "epilogue/trace/event_args.h"
#include "epilogue/trace/links.h"
#include "tests/profile/events.h"
#include "tests/profile/gpu_recording.h"

namespace epi::profile {
namespace {

using Names = std::vector<std::string>;
using trace::Category;
using trace::EventId;
using trace::find_value;

// aten::mm inside "mlp_fwd" launches a memset and two kernels with one external correlation id.
GpuRecording mm_recording() {
  GpuRecording recording;
  recording.begin_annotation("mlp_fwd", 1000);
  recording.begin_op(Op::kMm, 2000);
  recording.launch({.id = 41, .bytes = 4096, .flops = 999}, 2100);
  recording.call("cudaMemsetAsync", 5, 2200, 41);
  recording.call("cuLaunchKernelEx", 6, 2400, 41);
  recording.call("cudaLaunchKernel", 7, 2600, 41);
  recording.end(3000);
  recording.end(4000);
  recording.work(WorkKind::kKernel, "splitk_reduce", 7, 9000);  // CUPTI may deliver out of order
  recording.work(WorkKind::kMemset, "Memset (Device)", 5, 5000).bytes = 2000;
  recording.work(WorkKind::kKernel, "gemm", 6, 7000).shape = {168, 213188, {2, 66, 1}, {384, 1, 1}};
  return recording;
}

EventId only(const trace::Trace& trace, std::string_view name, Category category) {
  EventId found = trace::kNoEvent;
  for (const EventId id : events_of(trace, category)) {
    if (trace.name_of(id) != name) continue;
    EXPECT_EQ(found, trace::kNoEvent) << name;
    found = id;
  }
  EXPECT_NE(found, trace::kNoEvent) << name;
  return found;
}

TEST(GpuLane, LinksCallsAndWorkToTheOperator) {
  const trace::Trace trace = mm_recording().collect();
  const int64_t op = trace.external_id[only(trace, "aten::mm", Category::kCpuOp)];
  EXPECT_EQ(names_of(trace, Category::kKernel), (Names{"gemm", "splitk_reduce"}));
  for (const Category category :
       {Category::kCudaRuntime, Category::kCudaDriver, Category::kKernel, Category::kGpuMemset}) {
    for (const EventId id : events_of(trace, category)) EXPECT_EQ(trace.external_id[id], op);
  }
  const EventId call = only(trace, "cuLaunchKernelEx", Category::kCudaDriver);
  EXPECT_EQ(trace.correlation[call], 6);
  EXPECT_EQ(trace.lanes[trace.lane[call]], (trace::Lane{::getpid(), kTid}));
  const EventId gemm = only(trace, "gemm", Category::kKernel);
  EXPECT_EQ(trace.correlation[gemm], 6);
  EXPECT_EQ(trace.lanes[trace.lane[gemm]], (trace::Lane{0, 7}));
  const trace::Links links = trace::link(trace);
  EXPECT_EQ(links.launch[gemm], call);
  EXPECT_EQ(trace.name_of(links.op[gemm]), "aten::mm");
}

TEST(GpuLane, AttachesCostToTheFirstKernel) {
  const trace::Trace trace = mm_recording().collect();
  const auto args = trace.args_of(only(trace, "gemm", Category::kKernel));
  EXPECT_EQ(find_value(args, "bytes"), "4096");
  EXPECT_EQ(find_value(args, "flops"), "999");
  const auto second = trace.args_of(only(trace, "splitk_reduce", Category::kKernel));
  EXPECT_FALSE(find_value(second, "bytes"));
  EXPECT_FALSE(find_value(second, "flops"));
}

TEST(GpuLane, WritesArgumentsLikePyTorch) {
  const trace::Trace trace = mm_recording().collect();
  EXPECT_EQ(trace.args_of(only(trace, "gemm", Category::kKernel)),
            R"({"queued": 0, "device": 0, "context": 1, "stream": 7, "registers per thread": 168, )"
            R"("shared memory": 213188, "blocks per SM": 1.000000, "warps per SM": 12.000000, )"
            R"("grid": [2, 66, 1], "block": [384, 1, 1], "est. achieved occupancy %": 19, )"
            R"("bytes": 4096, "flops": 999})");
  EXPECT_EQ(trace.args_of(only(trace, "Memset (Device)", Category::kGpuMemset)),
            "{\"device\": 0, \"context\": 1, \"stream\": 7, \"bytes\": 2000, "
            "\"memory bandwidth (GB/s)\": 2}");
  EXPECT_EQ(trace.args_of(only(trace, "cudaMemsetAsync", Category::kCudaRuntime)),
            R"({"cbid": 211})");
}

TEST(GpuLane, WritesGraphIds) {
  GpuRecording recording;
  recording.call("cudaGraphLaunch", 9, 1000);
  for (const uint64_t node : {31, 32}) {
    GpuWork& work =
        recording.work(WorkKind::kKernel, "in_graph", 9, 3000 + 2000 * static_cast<int64_t>(node));
    work.graph_id = 3;
    work.graph_node_id = node;
  }
  const trace::Trace trace = recording.collect();
  const auto kernels = events_of(trace, Category::kKernel);
  ASSERT_EQ(kernels.size(), 2);
  EXPECT_EQ(find_value(trace.args_of(kernels[1]), "graph id"), "3");
  EXPECT_EQ(find_value(trace.args_of(kernels[1]), "graph node id"), "32");
  EXPECT_EQ(events_of(trace, Category::kAc2g).size(), 3);  // one flow start, two flow ends
}

TEST(GpuLane, ConnectsCallsToWorkWithFlows) {
  GpuRecording recording = mm_recording();
  recording.call("cudaDeviceSynchronize", 8, 4100);
  const trace::Trace trace = recording.collect();
  const auto flows = events_of(trace, Category::kAc2g);
  ASSERT_EQ(flows.size(), 6);
  for (const EventId flow : flows) {
    const bool start = trace.phase[flow] == trace::Phase::kFlowStart;
    const EventId at = flow - 1;  // written right after its event
    EXPECT_EQ(trace::is_call(trace.category[at]), start);
    EXPECT_EQ(trace.lane[flow], trace.lane[at]);
    EXPECT_EQ(trace.ts_ns[flow], trace.ts_ns[at]);
    EXPECT_EQ(trace.correlation[flow], trace.correlation[at]);
  }
}

TEST(GpuLane, OmitsMinorCallsUnlessTheyStartWork) {
  GpuRecording recording;
  recording.call("cudaGetLastError", 1, 1000);
  recording.call("cuCtxGetCurrent", 2, 1200);
  recording.call("cuFunctionOfTheFuture", 3, 1400);
  recording.call("cudaMalloc", 4, 1600);
  recording.call("cuCtxSynchronize", 5, 1800);
  recording.work(WorkKind::kKernel, "new", 3, 5000);
  const trace::Trace trace = recording.collect();
  EXPECT_EQ(names_of(trace, Category::kCudaRuntime), Names{"cudaMalloc"});
  EXPECT_EQ(names_of(trace, Category::kCudaDriver),
            (Names{"cuFunctionOfTheFuture", "cuCtxSynchronize"}));
}

TEST(GpuLane, MergesRuntimeAndDriverCall) {
  GpuRecording recording;
  recording.call("cuLaunchKernel", 5, 1010);
  recording.call("cudaLaunchKernel", 5, 1000);
  recording.work(WorkKind::kKernel, "k", 5, 5000);
  const trace::Trace trace = recording.collect();
  EXPECT_EQ(names_of(trace, Category::kCudaRuntime), Names{"cudaLaunchKernel"});
  EXPECT_EQ(names_of(trace, Category::kCudaDriver), Names{});
}

TEST(GpuLane, DropsWorkWithoutRecordedLaunch) {
  GpuRecording recording;
  recording.call("cudaLaunchKernel", 1, -500);            // during warmup
  recording.call("cudaLaunchKernel", 2, kLengthNs + 50);  // after the end
  recording.work(WorkKind::kKernel, "before", 1, 2000);
  recording.work(WorkKind::kKernel, "after", 2, kLengthNs + 500);
  recording.work(WorkKind::kKernel, "unknown", 3, 4000);
  const trace::Trace trace = recording.collect();
  EXPECT_TRUE(events_of(trace, Category::kKernel).empty());
  EXPECT_TRUE(events_of(trace, Category::kCudaRuntime).empty());
  EXPECT_TRUE(events_of(trace, Category::kAc2g).empty());
  EXPECT_EQ(trace.property("gpu_clock_shift_ns"), "");  // dropped work does not shift the clock
}

TEST(GpuLane, ShiftsGpuClockSoWorkFollowsItsCall) {
  GpuRecording recording;
  recording.call("cudaLaunchKernel", 1, 1000);
  recording.call("cudaLaunchKernel", 2, 5000);
  recording.work(WorkKind::kKernel, "first", 1, 900);    // 100 ns early
  recording.work(WorkKind::kKernel, "second", 2, 4700);  // 300 ns early
  const trace::Trace trace = recording.collect();
  EXPECT_EQ(trace.property("gpu_clock_shift_ns"), "300");
  const EventId first = only(trace, "first", Category::kKernel);
  const EventId second = only(trace, "second", Category::kKernel);
  EXPECT_EQ(trace.ts_ns[second] - trace.ts_ns[first], 3800);
  const trace::Links links = trace::link(trace);
  EXPECT_EQ(trace.ts_ns[second], trace.ts_ns[links.launch[second]]);
  EXPECT_EQ(trace.ts_ns[first], trace.ts_ns[links.launch[first]] + 200);
}

TEST(GpuLane, DoesNotShiftAConsistentClock) {
  EXPECT_EQ(mm_recording().collect().property("gpu_clock_shift_ns"), "");
}

}  // namespace
}  // namespace epi::profile
