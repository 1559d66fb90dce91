// SPDX-License-Identifier: Apache-2.0
// How fast all SMs together read the same rows of x from the L2 cache, as they do if a GEMM has few
// rows.
//   shared_reads
// Every block copies the same tiles of 128 rows by 64 columns in the same order, as the tile form
// does, into a ring in shared memory. The time per tile is the difference between two depths.
#include "bench/shared_reads.h"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "epilogue/compiler/gpu/tensor_map.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

constexpr int kRounds = 9;
constexpr int kCalls = 200;
constexpr int kShallow = 2048;
constexpr int kDeep = 16384;

// Nanoseconds of a call, the median.
double time_ns(const Tensor& x, int columns, int blocks, int groups) {
  const auto map = compiler::make_tensor_map(
      {x.raw_data(), DType::kBF16, int64_t{kSharedRows} * groups, columns, columns}, kSharedRows,
      kSharedColumns);
  const cuda::Event start(cuda::Event::Timing::kOn);
  const cuda::Event end(cuda::Event::Timing::kOn);
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    start.record(cuda::current_stream());
    for (int call = 0; call < kCalls; ++call) {
      start_shared_reads(map.words, columns, blocks, groups);
    }
    end.record(cuda::current_stream());
    end.synchronize();
    times.push_back(static_cast<double>(end.ms_since(start)) * 1e6 / kCalls);
  }
  std::sort(times.begin(), times.end());
  return times[kRounds / 2];
}

void measure() {
  cudaDeviceProp gpu{};
  cudaGetDeviceProperties(&gpu, 0);
  const int blocks = gpu.multiProcessorCount;
  fmt::print("{}, {} SMs, CUDA {}\n", gpu.name, blocks, CUDART_VERSION);
  constexpr int kMaxGroups = 16;
  const Tensor x = full({kMaxGroups * kSharedRows, kDeep}, 0, {DType::kBF16, kCuda});
  for (int groups = 1; groups <= kMaxGroups; groups *= 2) {
    const double ns = time_ns(x, kDeep, blocks, groups) - time_ns(x, kShallow, blocks, groups);
    const double bytes = 2.0 * kSharedRows * (kDeep - kShallow) * blocks;
    fmt::print("{:3} SMs read the same rows: {:.0f} ns per tile, {:.0f} bytes per ns in all\n",
               (blocks + groups - 1) / groups, ns * kSharedColumns / (kDeep - kShallow),
               bytes / ns);
  }
}

}  // namespace
}  // namespace epi::bench

int main() {
  try {
    epi::register_cpu_backend();
    if (const auto ready = epi::register_cuda_backend(); !ready) {
      throw epi::Error(ready.error().message);
    }
    epi::bench::measure();
  } catch (const std::exception& error) {
    fmt::print(stderr, "shared_reads: {}\n", error.what());
    return 2;
  }
}
