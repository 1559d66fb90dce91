// SPDX-License-Identifier: Apache-2.0
// Ranges that CUDA calls belong to, spans of annotations on the GPU, and names of threads and
// lanes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "epilogue/analysis/pytorch/profiler_table.h"
#include "epilogue/profile/cpu_kernel_lane.h"
#include "epilogue/trace/event_args.h"
#include "tests/profile/events.h"
#include "tests/profile/gpu_recording.h"

namespace epi::profile {
namespace {

using Names = std::vector<std::string>;
using trace::Category;
using trace::EventId;

// The name of the range with the external id of the event, or "" if the event has none.
std::string_view range_of(const trace::Trace& trace, EventId id) {
  for (const Category category : {Category::kCpuOp, Category::kUserAnnotation}) {
    for (const EventId range : events_of(trace, category)) {
      if (trace.external_id[range] == trace.external_id[id]) return trace.name_of(range);
    }
  }
  EXPECT_EQ(trace.external_id[id], 0);
  return "";
}

TEST(GpuRanges, AssignUserCallsToTheEnclosingRange) {
  GpuRecording recording;
  recording.begin_annotation("outer", 1000);
  recording.begin_op(Op::kMm, 1100);
  recording.end(1500);
  recording.end(5000);
  recording.call("cudaLaunchKernel", 1, 1200);  // inside aten::mm
  recording.call("cudaLaunchKernel", 2, 1450);  // ends after aten::mm
  recording.call("cudaLaunchKernel", 3, 3000);
  recording.call("cudaLaunchKernel", 4, 6000);        // only inside the step
  recording.call("cudaLaunchKernel", 5, 50'000);      // outside all ranges
  recording.call("cudaLaunchKernel", 6, 1250).tid++;  // on another thread
  const trace::Trace trace = recording.collect({{3, kBeginNs + 500, kBeginNs + 8000, kTid}});
  Names ranges;
  for (const EventId id : events_of(trace, Category::kCudaRuntime)) {
    ranges.emplace_back(range_of(trace, id));
  }
  EXPECT_EQ(ranges, (Names{"aten::mm", "outer", "outer", "ProfilerStep#3", "", ""}));
}

TEST(GpuRanges, AssignMarkedCallsToTheirLaunch) {
  GpuRecording recording;
  recording.begin_op(Op::kMm, 1000);
  recording.launch({.id = 8}, 1100);
  recording.end(2000);
  recording.begin_op(Op::kRelu, 3000);
  recording.end(4000);
  recording.call("cudaLaunchKernel", 1, 3100, 8);   // wrong clock
  recording.call("cudaLaunchKernel", 2, 3100, 99);  // of an earlier recording
  const trace::Trace trace = recording.collect();
  const auto calls = events_of(trace, Category::kCudaRuntime);
  EXPECT_EQ(range_of(trace, calls.at(0)), "aten::mm");
  EXPECT_EQ(range_of(trace, calls.at(1)), "aten::relu");
}

TEST(GpuRanges, SpanWorkOfAnnotationPerStream) {
  GpuRecording recording;
  recording.begin_annotation("outer", 1000);
  recording.begin_annotation("inner", 1100);
  recording.end(2000);
  recording.end(5000);
  recording.call("cudaLaunchKernel", 1, 1200);
  recording.call("cudaLaunchKernel", 2, 3000);
  recording.call("cudaLaunchKernel", 3, 3200);
  recording.work(WorkKind::kKernel, "a", 1, 6000);
  recording.work(WorkKind::kKernel, "b", 2, 8000);
  recording.work(WorkKind::kKernel, "c", 3, 8500).stream = 9;
  const trace::Trace trace = recording.collect({{0, kBeginNs + 500, kBeginNs + 9000, kTid}});
  const auto spans = events_of(trace, Category::kGpuUserAnnotation);
  EXPECT_EQ(names_of(trace, Category::kGpuUserAnnotation), (Names{"outer", "outer", "inner"}));
  const EventId first = events_of(trace, Category::kKernel).at(0);
  EXPECT_EQ(trace.ts_ns[spans.at(0)], trace.ts_ns[first] - 1);
  EXPECT_EQ(trace.dur_ns[spans.at(0)], 3002);
  EXPECT_EQ(trace.lanes[trace.lane[spans.at(1)]].tid, 9);
  EXPECT_EQ(trace.dur_ns[spans.at(1)], 1002);
  EXPECT_EQ(trace.dur_ns[spans.at(2)], 1002);
  EXPECT_EQ(range_of(trace, spans[2]), "inner");
}

std::vector<std::string> metadata(const trace::Trace& trace, std::string_view name) {
  std::vector<std::string> found;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.phase[id] != trace::Phase::kMetadata || trace.name_of(id) != name) continue;
    const trace::Lane& lane = trace.lanes[trace.lane[id]];
    found.push_back(fmt::format("{}/{} {}",
                                lane.pid == ::getpid() ? "self" : std::to_string(lane.pid),
                                lane.tid, trace.args_of(id)));
  }
  return found;
}

GpuRecording one_kernel() {
  GpuRecording recording;
  recording.begin_op(Op::kMm, 1000);
  recording.call("cudaLaunchKernel", 4, 1200);
  recording.call("cudaMemcpyAsync", 5, 1400).tid = 78;
  recording.end(2000);
  recording.work(WorkKind::kKernel, "gemm", 4, 3000);
  return recording;
}

TEST(GpuRanges, NameDevicesStreamsAndThreads) {
  GpuRecording recording = one_kernel();
  recording.gpu().overheads.push_back(
      {recording.gpu().names.intern("Buffer Flush"), kTid, kBeginNs + 10, kBeginNs + 30});
  const trace::Trace trace = recording.collect();
  EXPECT_EQ(metadata(trace, "process_labels"),
            (Names{R"(self/0 {"labels": "CPU"})", R"(0/0 {"labels": "GPU 0"})",
                   R"(-1/0 {"labels": "Overhead"})"}));
  EXPECT_EQ(metadata(trace, "process_sort_index").at(1), R"(0/0 {"sort_index": 5000000})");
  EXPECT_EQ(metadata(trace, "thread_name"),
            (Names{"self/77 {\"name\": \"thread 77 (worker)\"}",
                   "self/78 {\"name\": \"thread 78\"}", "0/7 {\"name\": \"stream 7\"}"}));
  const auto overheads = events_of(trace, Category::kOverhead);
  ASSERT_EQ(overheads.size(), 1);
  EXPECT_EQ(trace.name_of(overheads[0]), "Buffer Flush");
  EXPECT_EQ(trace.dur_ns[overheads[0]], 20);
}

TEST(GpuRanges, DescribeTheDeviceLikePyTorch) {
  GpuRecording recording = one_kernel();
  recording.gpu().dropped = 3;
  const trace::Trace trace = recording.collect();
  EXPECT_EQ(trace.property("cuda_driver_version"), "13000");
  EXPECT_EQ(trace.property("cuda_runtime_version"), "13000");
  EXPECT_EQ(trace.property("cupti_version"), "130001");
  EXPECT_EQ(trace.property("recording_incomplete"), "\"3 GPU records were lost\"");
  const auto devices = trace::array_items(trace.property("deviceProperties"));
  ASSERT_EQ(devices.size(), 1);
  EXPECT_EQ(trace::find_value(devices[0], "name"), "\"NVIDIA H200\"");
  EXPECT_EQ(trace::find_value(devices[0], "sharedMemPerBlockOptin"), "232448");
}

TEST(GpuRanges, SeparateCpuKernels) {
  GpuRecording recording = one_kernel();
  recording.begin_op(Op::kRelu, 5000);
  recording.cpu_kernel("pointwise_relu", 5100);
  recording.end(6000);
  const trace::Trace trace = recording.collect();
  const auto kernels = events_of(trace, Category::kKernel);
  ASSERT_EQ(kernels.size(), 2);
  EXPECT_EQ(trace.lanes[trace.lane[kernels[1]]].pid, kCpuKernelsPid);
  EXPECT_GT(trace.correlation[kernels[1]], 5);  // above the GPU's correlation ids
  EXPECT_TRUE(trace::has_cpu_kernels(trace));
  EXPECT_EQ(trace::array_items(trace.property("deviceProperties")).size(), 2);
}

TEST(GpuRanges, ReportWhyNoGpuWasRecorded) {
  GpuRecording recording;
  recording.gpu() = {};
  recording.gpu().failure = "cuptiSubscribe: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
  const trace::Trace trace = recording.collect();
  EXPECT_EQ(trace.property("gpu_recording"),
            "\"cuptiSubscribe: CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED\"");
  EXPECT_TRUE(trace::has_cpu_kernels(trace));
}

TEST(GpuRanges, AttributeDeviceTimeToOperators) {
  const auto table = analysis::profiler_table(one_kernel().collect());
  EXPECT_EQ(table.device_name, "CUDA");
  EXPECT_DOUBLE_EQ(table.self_device_total_us, 1);
  std::map<std::string, double> device_us;
  for (const auto& row : table.rows) device_us[row.name] = row.self_device_us;
  EXPECT_DOUBLE_EQ(device_us.at("aten::mm"), 1);
  EXPECT_DOUBLE_EQ(device_us.at("gemm"), 1);
  EXPECT_DOUBLE_EQ(device_us.at("cudaMemcpyAsync"), 0);
}

}  // namespace
}  // namespace epi::profile
