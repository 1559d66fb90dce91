// SPDX-License-Identifier: Apache-2.0
// How fast all SMs together read the same rows of x from the L2 cache, as they do if a GEMM has few
// rows: kSharedRate in epilogue/compiler/codegen/hopper_choice.cpp.
//   shared_reads
// Every block copies the same tiles of 128 rows by 64 columns in the same order, as the tile form
// does, into a ring in shared memory. The time per tile is the difference between two depths.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "epilogue/compiler/codegen/device/hopper.cuh"
#include "epilogue/compiler/gpu/tensor_map.h"

namespace {

using namespace epi::device;

constexpr int kRows = 128;
constexpr int kColumns = 64;
constexpr int kTileBytes = kRows * kColumns * 2;
constexpr int kStages = 12;
constexpr int kRounds = 9;
constexpr int kCalls = 200;
constexpr int kShallow = 2048, kDeep = 16384;

// Block b reads the rows of group b % groups.
__global__ void __launch_bounds__(32, 1)
    read_tiles(const __grid_constant__ TensorMap map, int columns, int groups, unsigned* never) {
  extern __shared__ __align__(1024) char ring[];
  __shared__ __align__(8) u64 full[kStages];
  if (threadIdx.x != 0) return;
  for (int s = 0; s < kStages; ++s) init_barrier(address_of(full + s), 1);
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  const int steps = columns / kColumns, row = static_cast<int>(blockIdx.x) % groups * kRows;
  const auto load = [&](int step) {
    const int stage = step % kStages;
    expect_bytes(address_of(full + stage), kTileBytes);
    load_tile(address_of(ring) + stage * kTileBytes, &map, step * kColumns, row,
              address_of(full + stage));
  };
  for (int step = 0; step < ::min(kStages, steps); ++step) load(step);
  unsigned sum = 0;
  for (int step = 0; step < steps; ++step) {
    wait(address_of(full + step % kStages), step / kStages & 1);
    sum += *reinterpret_cast<unsigned*>(ring + step % kStages * kTileBytes);
    if (step + kStages < steps) load(step + kStages);
  }
  if (sum == 0x12345678) *never = sum;  // so that the reads are not removed
}

void check(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "shared_reads: %s\n", cudaGetErrorString(code));
  std::exit(2);
}

// Nanoseconds of a call, the median.
double time_ns(const char* x, int columns, int blocks, int groups, unsigned* never) {
  using epi::compiler::make_tensor_map;
  const auto map = make_tensor_map({reinterpret_cast<const std::byte*>(x), epi::DType::kBF16,
                                    int64_t{kRows} * groups, columns, columns},
                                   kRows, kColumns);
  TensorMap argument;
  static_assert(sizeof argument == sizeof map);
  std::copy(std::begin(map.words), std::end(map.words), argument.words);
  cudaEvent_t start = nullptr, end = nullptr;
  check(cudaEventCreate(&start));
  check(cudaEventCreate(&end));
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    check(cudaEventRecord(start));
    for (int call = 0; call < kCalls; ++call) {
      read_tiles<<<blocks, 32, kStages * kTileBytes>>>(argument, columns, groups, never);
    }
    check(cudaEventRecord(end));
    check(cudaEventSynchronize(end));
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, end));
    times.push_back(ms * 1e6 / kCalls);
  }
  std::sort(times.begin(), times.end());
  return times[kRounds / 2];
}

}  // namespace

int main() {
  cudaDeviceProp gpu{};
  check(cudaGetDeviceProperties(&gpu, 0));
  const int blocks = gpu.multiProcessorCount;
  std::printf("%s, %d SMs, CUDA %d\n", gpu.name, blocks, CUDART_VERSION);
  check(cudaFuncSetAttribute(read_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             kStages * kTileBytes));
  constexpr int kMaxGroups = 16;
  char* x = nullptr;
  unsigned* never = nullptr;
  check(cudaMalloc(&x, size_t{kMaxGroups} * kRows * kDeep * 2));
  check(cudaMemset(x, 0, size_t{kMaxGroups} * kRows * kDeep * 2));
  check(cudaMalloc(&never, sizeof *never));
  for (int groups = 1; groups <= kMaxGroups; groups *= 2) {
    const double ns =
        time_ns(x, kDeep, blocks, groups, never) - time_ns(x, kShallow, blocks, groups, never);
    const double bytes = 2.0 * kRows * (kDeep - kShallow) * blocks;
    std::printf("%3d SMs read the same rows: %.0f ns per tile, %.0f bytes per ns in all\n",
                (blocks + groups - 1) / groups, ns * kColumns / (kDeep - kShallow), bytes / ns);
  }
  return 0;
}
