// SPDX-License-Identifier: Apache-2.0
// The stream form of a GEMM, for few rows of x: the weights are the first matrix of the
// instruction, 64 rows at a time, and the rows of x, at most 64, the second. The kernel is bound by
// reading the weights, so most of shared memory is a ring of loads in flight. With programmatic
// dependent launch the ring is filled before the preceding kernel has finished. A tile has fewer
// than 64 rows if that distributes the weights more evenly: the instruction then also multiplies
// the memory behind them, and those results are not read.
#pragma once

#include "epilogue/compiler/codegen/device/pair.cuh"
#include "epilogue/compiler/codegen/device/wgmma.cuh"

namespace epi::device {

template <int kWeightRows, int kTokenCount, int kSlabCount, int kStageCount, int kSumBytes,
          int kGemmCount>
struct Stream {
  static constexpr int kRows = kWeightRows;    // weight rows of each GEMM per tile
  static constexpr int kTokens = kTokenCount;  // max rows of x
  static constexpr int kSlabs = kSlabCount;    // slabs of 64 columns per stage
  static constexpr int kStages = kStageCount;
  static constexpr int kSumsBytes = kSumBytes;
  static constexpr int kGemms = kGemmCount;
};

// Runs in a block of 160 threads. `Epilogue` is as in tiles.cuh.
template <typename T, typename Stream, typename Epilogue>
__device__ __forceinline__ void run_stream(const TensorMap& x_map, const TensorMap& w0_map,
                                           const TensorMap& w1_map, T* out,
                                           const Operands& operands, int m, int n, int k) {
  constexpr int kStages = Stream::kStages, kRows = Stream::kRows, kTokens = Stream::kTokens;
  constexpr int kGemms = Stream::kGemms, kSlabs = Stream::kSlabs;
  constexpr u32 kSlabBytes = kGemms * kRows * 128, kTokenBytes = kTokens * 128;
  constexpr u32 kStageBytes = kSlabs * (kSlabBytes + kTokenBytes);
  const u32 load_bytes = kSlabs * (kSlabBytes + m * 128);  // per stage: x has only m rows
  constexpr int kPitch = kTokens + 2;                      // row pitch of the sums

  extern __shared__ __align__(1024) unsigned char shared[];
  const u32 stages = address_of(shared);
  float* sums = reinterpret_cast<float*>(shared + kStages * kStageBytes);
  const u32 full = stages + kStages * kStageBytes + Stream::kSumsBytes;
  const u32 empty = full + 8 * kStages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init_barrier(full + 8 * s, 1);
      init_barrier(empty + 8 * s, 4);  // one arrival per multiplying warp
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  const int depth = (k + 64 * kSlabs - 1) / (64 * kSlabs);
  const int tiles = (n + kRows - 1) / kRows;
  const int my_tiles = (tiles - static_cast<int>(blockIdx.x) + gridDim.x - 1) / gridDim.x;
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      const auto load_weights = [&](int step) {
        const u32 barrier = full + 8 * (step % kStages);
        const u32 to = stages + step % kStages * kStageBytes;
        const int row = (blockIdx.x + step / depth * gridDim.x) * kRows;
        expect_bytes(barrier, load_bytes);
#pragma unroll
        for (int i = 0; i < kSlabs; ++i) {
          const int column = (step % depth * kSlabs + i) * 64;
          load_tile(to + i * kSlabBytes, &w0_map, column, row, barrier);
          if (kGemms == 2) {
            load_tile(to + i * kSlabBytes + kRows * 128, &w1_map, column, row, barrier);
          }
        }
      };
      const auto load_x = [&](int step) {
        const u32 barrier = full + 8 * (step % kStages);
        const u32 to = stages + step % kStages * kStageBytes + kSlabs * kSlabBytes;
#pragma unroll
        for (int i = 0; i < kSlabs; ++i) {
          load_tile(to + i * kTokenBytes, &x_map, (step % depth * kSlabs + i) * 64, 0, barrier);
        }
      };
      const int steps = my_tiles * depth, ahead = ::min(steps, kStages);
      for (int step = 0; step < ahead; ++step) load_weights(step);
      wait_for_inputs();
      for (int step = 0; step < ahead; ++step) load_x(step);
      for (int step = ahead; step < steps; ++step) {
        wait(empty + 8 * (step % kStages), step / kStages & 1 ^ 1);
        load_weights(step);
        load_x(step);
      }
    }
    return;
  }

  wait_for_inputs();
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  float d[kTokens / 2];
  int stage = 0;
  u32 parity = 0;
  for (int tile = 0; tile < my_tiles; ++tile) {
    for (int step = 0; step < depth; ++step) {
      wait(full + 8 * stage, parity);
      const u32 from = stages + stage * kStageBytes;
      begin_mma();
#pragma unroll
      for (int i = 0; i < kSlabs; ++i) {
        const u64 a = tile_descriptor(from + i * kSlabBytes);
        const u64 b = tile_descriptor(from + kSlabs * kSlabBytes + i * kTokenBytes);
        multiply<T, kTokens>(d, a, b, step + i > 0);
      }
      commit_mma();
      wait_mma<0>();
      if (lane == 0) arrive(empty + 8 * stage);
      if (++stage == kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
    fence_sums(d);
    // Gate and up of one element belong to different threads, which exchange them through shared
    // memory.
#pragma unroll
    for (int j = 0; j < kTokens / 2; ++j) {
      const int row = 16 * warp + lane / 4 + (j & 2) * 4;
      if (row < kGemms * kRows) sums[row * kPitch + j / 4 * 8 + 2 * (lane % 4) + (j & 1)] = d[j];
    }
    barrier_sync(1, 128);
    const int tile_column = (blockIdx.x + tile * gridDim.x) * kRows;
    for (int i = threadIdx.x; i < kRows / 2 * kTokens; i += 128) {
      const int row = i / (kRows / 2), at = i % (kRows / 2) * 2, column = tile_column + at;
      if (row >= m || column >= n) continue;
      const float* sum = sums + at * kPitch + row;
      const auto epilogue = [&] {
        const Pair first(sum[0], sum[kPitch]);
        if constexpr (kGemms == 1) {
          return Epilogue::apply(operands, row, column, m, n, first);
        } else {
          const Pair second(sum[kRows * kPitch], sum[(kRows + 1) * kPitch]);
          return Epilogue::apply(operands, row, column, m, n, first, second);
        }
      };
      *reinterpret_cast<u32*>(out + static_cast<long long>(row) * n + column) =
          packed<T>(epilogue());
    }
    barrier_sync(1, 128);
  }
}

}  // namespace epi::device
