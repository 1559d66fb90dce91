// SPDX-License-Identifier: Apache-2.0
// The launch of an empty kernel: not recorded, under a minimal CUPTI recording that discards its
// buffers, and under our profiler, inside an annotation and a launch hook.
#include "bench/profile_gpu_bench.h"

#include <fmt/core.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "bench/profile_empty_kernel.h"
#include "epilogue/base/error.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/profile/cupti.h"
#include "epilogue/profile/profiler.h"

namespace epi::bench {
namespace {

constexpr int kLaunches =
    500;  // below the queue depth of 1024, so that the CPU never waits for the GPU
constexpr double kRecordedLimitNs = 1000;
constexpr double kNoListenerLimitNs = 20;
constexpr size_t kBufferBytes = size_t{4} << 20;

void check(cudaError_t status) {
  if (status != cudaSuccess) fail("bench", "CUDA: {}", cudaGetErrorString(status));
}

void launch() { check(launch_empty_kernel(nullptr)); }

void launch_like_an_op() {
  const RecordFunction range("empty");
  run_launch([] { return LaunchCost{}; }, launch);
}

void CUPTIAPI request_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI discard_buffer(CUcontext /*context*/, uint32_t /*stream*/, uint8_t* buffer,
                             size_t /*size*/, size_t /*valid*/) {
  std::free(buffer);
}

void throw_on_failure(const Result<void>& done) {
  if (!done) throw Error(done.error().message);
}

// The profiler's timestamp callback stays registered after its first recording, so both sides read
// the same clock.
void start_minimal_recording() {
  const profile::Cupti& cupti = *profile::cupti();
  throw_on_failure(cupti.check("cuptiActivityRegisterCallbacks",
                               cupti.activity_register_callbacks(request_buffer, discard_buffer)));
  for (const CUpti_ActivityKind kind : profile::kRecordedKinds) {
    throw_on_failure(cupti.check("cuptiActivityEnable", cupti.activity_enable(kind)));
  }
}

void stop_minimal_recording() {
  const profile::Cupti& cupti = *profile::cupti();
  check(cudaDeviceSynchronize());
  cupti.activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  for (const CUpti_ActivityKind kind : profile::kRecordedKinds) cupti.activity_disable(kind);
}

Side recorded_side() {
  auto profiler = std::make_shared<std::optional<profile::Profiler>>();
  return {"launch, recorded", launch_like_an_op, [profiler] { profiler->emplace(); },
          [profiler] {
            (*profiler)->stop();
            const std::string failure((*profiler)->trace().property("gpu_recording"));
            if (!failure.empty()) fail("bench", "the GPU was not recorded: {}", failure);
            profiler->reset();
          }};
}

}  // namespace

void add_profile_gpu(Suite& suite) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0) {
    fmt::print(stderr, "profile_gpu: skipped, no CUDA device: {}\n", cudaGetErrorString(status));
    return;
  }
  if (const auto& cupti = profile::cupti(); !cupti) {
    fmt::print(stderr, "profile_gpu: skipped: {}\n", cupti.error().message);
    return;
  }
  const auto wait = [] { check(cudaDeviceSynchronize()); };
  suite.add("profile_gpu_launch",
            {"a recorded launch minus a minimal CUPTI recording, ns",
             recorded_side(),
             {"launch, minimal CUPTI", launch, start_minimal_recording, stop_minimal_recording},
             Bound::kSlowerByAtMost,
             kRecordedLimitNs,
             kLaunches});
  suite.add("profile_gpu_no_listener", {"the hooks of a launch without a listener, ns",
                                        {"launch with hooks", launch_like_an_op, wait, wait},
                                        {"launch", launch, wait, wait},
                                        Bound::kSlowerByAtMost,
                                        kNoListenerLimitNs,
                                        kLaunches});
}

}  // namespace epi::bench
