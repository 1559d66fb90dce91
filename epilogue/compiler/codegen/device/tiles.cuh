// SPDX-License-Identifier: Apache-2.0
// The tile form of a GEMM: one thread loads tiles of x and of the weights into a ring of stages,
// and two warpgroups multiply them, 64 rows each. A stage holds 256 rows of weights: either of one
// GEMM, or 128 of gate and 128 of up, one below the other, so that one instruction multiplies both
// and a thread holds the same element of both sums.
#pragma once

#include "epilogue/compiler/codegen/device/pair.cuh"
#include "epilogue/compiler/codegen/device/wgmma.cuh"

namespace epi::device {

template <int kHalfRows, int kStageCount, int kStripColumns, int kGemmCount>
struct Tile {
  static constexpr int kHalf = kHalfRows;  // weight rows of each of the two tiles in a stage
  static constexpr int kStages = kStageCount;
  static constexpr int kStrip = kStripColumns;  // output columns per TMA store
  static constexpr int kGemms = kGemmCount;
};

// Runs in a block of 384 threads. `Epilogue::apply(operands, row, column, m, n, sums...)` returns
// two elements of the output.
template <typename T, typename Tile, typename Epilogue>
__device__ __forceinline__ void run_tiles(const TensorMap& x_map, const TensorMap& w0_map,
                                          const TensorMap& w1_map, const TensorMap& out_map,
                                          const Operands& operands, int m, int n, int k) {
  constexpr int kHalf = Tile::kHalf, kStages = Tile::kStages, kStrip = Tile::kStrip;
  constexpr int kColumns = 2 * kHalf / Tile::kGemms;
  constexpr u32 kXBytes = 128 * 128, kHalfBytes = kHalf * 128;
  constexpr u32 kStageBytes = kXBytes + 2 * kHalfBytes;
  constexpr u32 kOutBytes = 64 * kColumns * 2;  // per warpgroup
  constexpr int kGroup = 16;                    // row tiles that share weights in L2

  extern __shared__ __align__(1024) unsigned char shared[];
  const u32 stages = address_of(shared);
  const u32 outs = stages + kStages * kStageBytes;
  const u32 full = outs + 2 * kOutBytes, empty = full + 8 * kStages;

  const int warpgroup = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    prefetch_map(&x_map);
    prefetch_map(&w0_map);
    prefetch_map(&w1_map);
    prefetch_map(&out_map);
    for (int s = 0; s < kStages; ++s) {
      init_barrier(full + 8 * s, 1);
      init_barrier(empty + 8 * s, 8);  // one arrival per multiplying warp
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  wait_for_inputs();

  const int depth = (k + 63) / 64;
  const int row_tiles = (m + 127) / 128;
  const int column_tiles = (n + kColumns - 1) / kColumns;
  const int tiles = row_tiles * column_tiles;
  // Consecutive tiles share weights, and groups of tiles share rows of x.
  const auto place = [&](int tile, int& row, int& column) {
    const int group = tile / (kGroup * column_tiles);
    const int first = group * kGroup;
    const int rows = ::min(kGroup, row_tiles - first);
    const int within = tile - group * kGroup * column_tiles;
    row = (first + within % rows) * 128;
    column = within / rows * kColumns;
  };

  int stage = 0;
  u32 parity = 0;
  const auto next_stage = [&] {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  };

  if (warpgroup == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) {
      for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int row, column;
        place(tile, row, column);
        for (int step = 0; step < depth; ++step) {
          wait(empty + 8 * stage, parity ^ 1);
          const u32 barrier = full + 8 * stage;
          const u32 to = stages + stage * kStageBytes;
          expect_bytes(barrier, kStageBytes);
          load_tile(to, &x_map, step * 64, row, barrier);
          load_tile(to + kXBytes, &w0_map, step * 64, column, barrier);
          load_tile(to + kXBytes + kHalfBytes, &w1_map, step * 64,
                    column + (Tile::kGemms == 2 ? 0 : kHalf), barrier);
          next_stage();
        }
      }
    }
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    const int consumer = warpgroup - 1;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const bool is_leader = threadIdx.x % 128 == 0;
    const u32 out = outs + consumer * kOutBytes;
    const auto release = [&](int s) {
      if (lane == 0) arrive(empty + 8 * s);
    };
    float d[kHalf];
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      int row, column;
      place(tile, row, column);
      row += 64 * consumer;
      int previous = 0;
      for (int step = 0; step < depth; ++step) {
        wait(full + 8 * stage, parity);
        const u32 from = stages + stage * kStageBytes;
        const u64 a = tile_descriptor(from + consumer * (64 * 128));
        const u64 b = tile_descriptor(from + kXBytes);
        begin_mma();
#pragma unroll
        for (int i = 0; i < 4; ++i) multiply<T, 2 * kHalf>(d, a + 2 * i, b + 2 * i, step + i > 0);
        commit_mma();
        if (step > 0) {
          wait_mma<1>();
          release(previous);
        }
        previous = stage;
        next_stage();
      }
      wait_mma<0>();
      fence_sums(d);
      release(previous);

      const auto epilogue = [&](int j, int at_row, int at) {
        const Pair sums(d[j], d[j + 1]);
        if constexpr (Tile::kGemms == 1) {
          return Epilogue::apply(operands, at_row, at, m, n, sums);
        } else {
          const Pair second(d[kHalf / 2 + j], d[kHalf / 2 + j + 1]);
          return Epilogue::apply(operands, at_row, at, m, n, sums, second);
        }
      };
      // Wait until the previous store has read shared memory.
      if (is_leader) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      barrier_sync(1 + consumer, 128);
      const int at_row = row + 16 * warp + lane / 4;
      const int matrix_row = 16 * warp + lane % 16;  // addressed by this lane, of the warp's 16
      const int swizzle = kStrip == 64 ? matrix_row % 8 : matrix_row / 2 % 4;
#pragma unroll
      for (int c = 0; c < kColumns / 16; ++c) {
        u32 words[4];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int j = 4 * (2 * c + i);
          const int at = column + 16 * c + 8 * i + 2 * (lane % 4);
          // d[j] and its neighbor, and the pair eight rows below.
          words[2 * i] = packed<T>(epilogue(j, at_row, at));
          words[2 * i + 1] = packed<T>(epilogue(j + 2, at_row + 8, at));
        }
        const int strip = 16 * c / kStrip, chunk = 16 * c % kStrip / 8 + lane / 16;
        store_matrices(out + (strip * 64 + matrix_row) * (2 * kStrip) + ((chunk ^ swizzle) << 4),
                       words);
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      barrier_sync(1 + consumer, 128);
      if (is_leader) {
        for (int c = 0; c < kColumns / kStrip; ++c) {
          const int at = column + c * kStrip;
          if (at < n) store_tile(&out_map, at, row, out + c * (64 * 2 * kStrip));
        }
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      }
    }
    if (is_leader) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

}  // namespace epi::device
