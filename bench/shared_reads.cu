// SPDX-License-Identifier: Apache-2.0
#include "bench/shared_reads.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "epilogue/compiler/codegen/device/hopper.cuh"

namespace epi::bench {
namespace {

using namespace epi::device;

constexpr int kRows = kSharedRows;
constexpr int kColumns = kSharedColumns;
constexpr int kTileBytes = kRows * kColumns * 2;
constexpr int kStages = 12;

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

}  // namespace

void start_shared_reads(const uint64_t* map, int columns, int blocks, int groups) {
  static unsigned* never = nullptr;
  if (never == nullptr) {
    check(cudaMalloc(&never, sizeof *never));
    check(cudaFuncSetAttribute(read_tiles, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kStages * kTileBytes));
  }
  TensorMap argument;
  std::copy(map, map + 16, argument.words);
  read_tiles<<<blocks, 32, kStages * kTileBytes>>>(argument, columns, groups, never);
  check(cudaGetLastError());
}

}  // namespace epi::bench
