// SPDX-License-Identifier: Apache-2.0
// A launch of an empty kernel: unrecorded, under a bare recording of CUPTI that throws its buffers
// away, and under our profiler inside an annotation and a marked launch.
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

constexpr int kLaunches = 500;  // a queue holds 1024: the CPU must not wait for the GPU
constexpr double kRecordedLimitNs = 1000;
constexpr double kUnheardLimitNs = 20;
constexpr size_t kBufferBytes = size_t{4} << 20;

void check(cudaError_t status) {
  if (status != cudaSuccess) fail("bench", "CUDA: {}", cudaGetErrorString(status));
}

void launch() { check(launch_empty_kernel(nullptr)); }

void launch_as_an_op_does() {
  const RecordFunction range("empty");
  run_launch([] { return LaunchCost{}; }, launch);
}

void CUPTIAPI give_buffer(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = kBufferBytes;
  *max_records = 0;
}

void CUPTIAPI discard_buffer(CUcontext /*context*/, uint32_t /*stream*/, uint8_t* buffer,
                             size_t /*size*/, size_t /*valid*/) {
  std::free(buffer);
}

void need(const Result<void>& done) {
  if (!done) throw Error(done.error().message);
}

// The profiler's clock stays registered once it has recorded, so both sides read the same one.
void begin_bare() {
  const profile::Cupti& cupti = *profile::cupti();
  need(cupti.check("cuptiActivityRegisterCallbacks",
                   cupti.activity_register_callbacks(give_buffer, discard_buffer)));
  for (const CUpti_ActivityKind kind : profile::kRecordedKinds) {
    need(cupti.check("cuptiActivityEnable", cupti.activity_enable(kind)));
  }
}

void end_bare() {
  const profile::Cupti& cupti = *profile::cupti();
  check(cudaDeviceSynchronize());
  cupti.activity_flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  for (const CUpti_ActivityKind kind : profile::kRecordedKinds) cupti.activity_disable(kind);
}

Side recorded_side() {
  auto profiler = std::make_shared<std::optional<profile::Profiler>>();
  return {"launch, recorded", launch_as_an_op_does, [profiler] { profiler->emplace(); },
          [profiler] {
            (*profiler)->stop();
            const std::string failure((*profiler)->trace().property("gpu_recording"));
            if (!failure.empty()) fail("bench", "no GPU was recorded: {}", failure);
            profiler->reset();
          }};
}

}  // namespace

void add_profile_gpu(Suite& suite) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0) {
    fmt::print(stderr, "profile_gpu: left out, no CUDA device: {}\n", cudaGetErrorString(status));
    return;
  }
  if (const auto& cupti = profile::cupti(); !cupti) {
    fmt::print(stderr, "profile_gpu: left out: {}\n", cupti.error().message);
    return;
  }
  const auto wait = [] { check(cudaDeviceSynchronize()); };
  suite.add("profile_gpu_launch", {"a recorded launch over a bare recording of CUPTI, ns",
                                   recorded_side(),
                                   {"launch, bare CUPTI", launch, begin_bare, end_bare},
                                   Want::kSlowerByAtMost,
                                   kRecordedLimitNs,
                                   kLaunches});
  suite.add("profile_gpu_unheard", {"a launch's hooks when nobody listens, ns",
                                    {"launch with hooks", launch_as_an_op_does, wait, wait},
                                    {"launch", launch, wait, wait},
                                    Want::kSlowerByAtMost,
                                    kUnheardLimitNs,
                                    kLaunches});
}

}  // namespace epi::bench
