// SPDX-License-Identifier: Apache-2.0
// Tests with the real CUPTI library. Parsing its buffers needs CUPTI, recording needs a GPU.
#ifdef EPI_HAS_CUDA

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "epilogue/ops/hooks.h"
#include "epilogue/profile/cupti_reader.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/links.h"
#include "tests/profile/events.h"

namespace epi::profile {
namespace {

using Names = std::vector<std::string>;
using trace::Category;
using trace::EventId;

template <typename Record>
void append(std::vector<uint8_t>& buffer, const Record& record) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&record);
  buffer.insert(buffer.end(), bytes, bytes + sizeof record);
}

CUpti_ActivityAPI launch_call() {
  CUpti_ActivityAPI call{};
  call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  call.cbid = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
  call.threadId = 12;
  call.correlationId = 5;
  return call;
}

CUpti_ActivityExternalCorrelation launch_mark() {
  CUpti_ActivityExternalCorrelation mark{};
  mark.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  mark.externalKind = kLaunchCorrelationKind;
  mark.externalId = 77;
  mark.correlationId = 5;
  return mark;
}

CUpti_ActivityMemcpy6 copy_to_device() {
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.bytes = 64;
  copy.start = 300;
  copy.end = 400;
  return copy;
}

TEST(CuptiReader, ParsesABufferIntoRecords) {
  const auto& library = cupti();
  if (!library) GTEST_SKIP() << library.error().message;
  std::vector<uint8_t> buffer;
  append(buffer, launch_call());
  append(buffer, launch_mark());
  append(buffer, copy_to_device());
  GpuRecords records;
  CuptiReader(*library, records).read(buffer.data(), buffer.size());
  ASSERT_EQ(records.calls.size(), 1);
  EXPECT_EQ(records.names[records.calls[0].name], "cudaLaunchKernel");
  EXPECT_EQ(records.calls[0].tid, 12);
  ASSERT_EQ(records.launches.size(), 1);
  EXPECT_EQ(records.launches[0].launch_id, 77);
  EXPECT_EQ(records.launches[0].correlation, 5);
  ASSERT_EQ(records.work.size(), 1);
  EXPECT_EQ(records.names[records.work[0].name], "Memcpy HtoD (Pageable -> Device)");
  EXPECT_EQ(records.work[0].bytes, 64);
}

TEST(CuptiReader, NamesKernelsAndCountsUntimedOnes) {
  const auto& library = cupti();
  if (!library) GTEST_SKIP() << library.error().message;
  std::vector<uint8_t> buffer;
  CUpti_ActivityKernel10 kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.name = "_Z5scalePKffPfl";
  kernel.registersPerThread = 40;
  kernel.staticSharedMemory = 100;
  kernel.dynamicSharedMemory = 28;
  kernel.gridX = 3;
  kernel.start = 10;
  kernel.end = 20;
  append(buffer, kernel);
  kernel.start = kernel.end = 0;
  append(buffer, kernel);
  GpuRecords records;
  CuptiReader(*library, records).read(buffer.data(), buffer.size());
  ASSERT_EQ(records.work.size(), 1);
  EXPECT_EQ(records.names[records.work[0].name], "scale(float const*, float, float*, long)");
  EXPECT_EQ(records.work[0].shape.shared_bytes, 128);
  EXPECT_EQ(records.work[0].shape.grid[0], 3);
  EXPECT_EQ(records.dropped, 1);
}

// Allocates device memory to copy to and set. This also creates the context before a recording
// starts.
class GpuProfiler : public testing::Test {
 protected:
  void SetUp() override {
    int count = 0;
    const cudaError_t status = cudaGetDeviceCount(&count);
    if (status != cudaSuccess || count == 0) {
      GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(status);
    }
    ASSERT_EQ(cudaMalloc(&memory_, kBytes), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }
  void TearDown() override { cudaFree(memory_); }

  void set() { ASSERT_EQ(cudaMemsetAsync(memory_, 1, kBytes, nullptr), cudaSuccess); }

  static constexpr size_t kBytes = size_t{1} << 20;
  void* memory_ = nullptr;
};

TEST_F(GpuProfiler, RecordsWorkOfAnAnnotation) {
  std::vector<char> host(kBytes);
  Profiler profiler;
  {
    const RecordFunction range("gpu_fwd");
    run_launch([] { return LaunchCost{.bytes = 1 << 20, .flops = 0}; }, [&] { set(); });
    ASSERT_EQ(cudaMemcpyAsync(memory_, host.data(), kBytes, cudaMemcpyHostToDevice, nullptr),
              cudaSuccess);
  }
  profiler.stop();
  const trace::Trace& trace = profiler.trace();
  EXPECT_EQ(trace.property("gpu_recording"), "");
  EXPECT_EQ(names_of(trace, Category::kGpuMemset), Names{"Memset (Device)"});
  EXPECT_EQ(names_of(trace, Category::kGpuMemcpy), Names{"Memcpy HtoD (Pageable -> Device)"});
  EXPECT_EQ(names_of(trace, Category::kGpuUserAnnotation), Names{"gpu_fwd"});
  const EventId annotation = events_of(trace, Category::kUserAnnotation).at(0);
  const trace::Links links = trace::link(trace);
  for (const Category category : {Category::kGpuMemset, Category::kGpuMemcpy}) {
    const EventId work = events_of(trace, category).at(0);
    EXPECT_EQ(trace.external_id[work], trace.external_id[annotation]);
    ASSERT_NE(links.launch[work], trace::kNoEvent);
    EXPECT_GE(trace.ts_ns[work], trace.ts_ns[links.launch[work]]);
    EXPECT_EQ(trace.lane[links.launch[work]], trace.lane[annotation]);  // both use the id of gettid
    EXPECT_EQ(trace::find_value(trace.args_of(work), "bytes"), "1048576");
    // Calls and annotations use one clock, so the call lies within the annotation.
    EXPECT_GE(trace.ts_ns[links.launch[work]], trace.ts_ns[annotation]);
    EXPECT_LE(trace.end_ns(links.launch[work]), trace.end_ns(annotation));
  }
}

TEST_F(GpuProfiler, DropsWorkBeforeTheActiveSteps) {
  Profiler profiler({.schedule = Schedule{1, 1, 2}});
  for (int step = 0; step < 4; ++step) {
    set();
    profiler.step();
  }
  EXPECT_EQ(names_of(profiler.trace(), Category::kGpuMemset).size(), 2);
}

TEST_F(GpuProfiler, RecordsAgainAfterADroppedRecording) {
  std::make_unique<Profiler>().reset();
  for (int i = 0; i < 3; ++i) {
    set();  // outside any recording
    Profiler profiler;
    set();
    profiler.stop();
    EXPECT_EQ(names_of(profiler.trace(), Category::kGpuMemset).size(), 1);
  }
}

TEST_F(GpuProfiler, WaitsForWorkOfOtherThreads) {
  Profiler profiler;
  std::thread([&] {
    const RecordFunction range("other");
    for (int i = 0; i < 100; ++i) set();
  }).join();
  profiler.stop();
  const trace::Trace& trace = profiler.trace();
  EXPECT_EQ(names_of(trace, Category::kGpuMemset).size(), 100);
  EXPECT_EQ(names_of(trace, Category::kGpuUserAnnotation), Names{"other"});
  EXPECT_EQ(trace.property("recording_incomplete"), "");
}

TEST_F(GpuProfiler, DescribesTheDevice) {
  Profiler profiler;
  set();
  profiler.stop();
  cudaDeviceProp device{};
  ASSERT_EQ(cudaGetDeviceProperties(&device, 0), cudaSuccess);
  const auto described = trace::array_items(profiler.trace().property("deviceProperties"));
  ASSERT_FALSE(described.empty());
  EXPECT_EQ(trace::find_value(described[0], "name"), fmt::format("\"{}\"", device.name));
  EXPECT_EQ(trace::find_value(described[0], "numSms"), std::to_string(device.multiProcessorCount));
  EXPECT_EQ(trace::find_value(described[0], "totalGlobalMem"),
            std::to_string(device.totalGlobalMem));
}

}  // namespace
}  // namespace epi::profile

#endif  // EPI_HAS_CUDA
