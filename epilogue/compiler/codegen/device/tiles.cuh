// SPDX-License-Identifier: Apache-2.0
// The tile form of a GEMM: one thread brings tiles of x and of the weights into a ring of stages,
// two warpgroups multiply them, 64 rows each. A stage holds 256 rows of weights: of one GEMM, or
// 128 of gate and 128 of up, one below the other, so that one instruction multiplies both and a
// thread has the same element of both sums.
#pragma once

#include "epilogue/compiler/codegen/device/pair.cuh"
#include "epilogue/compiler/codegen/device/wgmma.cuh"

namespace epi::device {

template <int kHalfRows, int kStageCount, int kStripColumns, int kGemmCount>
struct Tile {
  static constexpr int kHalf = kHalfRows;  // rows of weights of each of two tiles in a stage
  static constexpr int kStages = kStageCount;
  static constexpr int kStrip = kStripColumns;  // columns of the output that are stored at once
  static constexpr int kGemms = kGemmCount;
};

// A block of 384 threads. `Epilogue::apply(operands, row, column, m, n, sums...)` gives two
// elements of the output.
template <typename T, typename Tile, typename Epilogue>
__device__ __forceinline__ void run_tiles(const TensorMap& x_map, const TensorMap& w0_map,
                                          const TensorMap& w1_map, const TensorMap& out_map,
                                          const Operands& operands, int m, int n, int k) {
  constexpr int kHalf = Tile::kHalf, kStages = Tile::kStages, kStrip = Tile::kStrip;
  constexpr int kColumns = 2 * kHalf / Tile::kGemms;
  constexpr u32 kXBytes = 128 * 128, kHalfBytes = kHalf * 128;
  constexpr u32 kStageBytes = kXBytes + 2 * kHalfBytes;
  constexpr u32 kOutBytes = 64 * kColumns * 2;  // of one warpgroup
  constexpr int kGroup = 16;                    // tiles of rows that share weights in the L2

  extern __shared__ __align__(1024) unsigned char shared[];
  const u32 stages = address_of(shared);
  const u32 outs = stages + kStages * kStageBytes;
  const u32 full = outs + 2 * kOutBytes, empty = full + 8 * kStages;

  const int group_of_warps = threadIdx.x / 128;
  if (threadIdx.x == 0) {
    fetch_map(&x_map);
    fetch_map(&w0_map);
    fetch_map(&w1_map);
    fetch_map(&out_map);
    for (int s = 0; s < kStages; ++s) {
      init_barrier(full + 8 * s, 1);
      init_barrier(empty + 8 * s, 8);  // each warp that multiplies
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  wait_for_inputs();

  const int depth = (k + 63) / 64;
  const int row_tiles = (m + 127) / 128;
  const int column_tiles = (n + kColumns - 1) / kColumns;
  const int tiles = row_tiles * column_tiles;
  // Neighbours in time share weights, and groups of them rows of x.
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

  if (group_of_warps == 0) {
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
    const int consumer = group_of_warps - 1;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    const bool leads = threadIdx.x % 128 == 0;
    const u32 out = outs + consumer * kOutBytes;
    const auto release = [&](int s) {
      if (lane == 0) arrive(empty + 8 * s);
    };
    float d[kHalf];
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      int row, column;
      place(tile, row, column);
      row += 64 * consumer;
      int before = 0;
      for (int step = 0; step < depth; ++step) {
        wait(full + 8 * stage, parity);
        const u32 from = stages + stage * kStageBytes;
        const u64 a = tile_at(from + consumer * (64 * 128)), b = tile_at(from + kXBytes);
        begin_mma();
#pragma unroll
        for (int i = 0; i < 4; ++i) multiply<T, 2 * kHalf>(d, a + 2 * i, b + 2 * i, step + i > 0);
        commit_mma();
        if (step > 0) {
          await_mma<1>();
          release(before);
        }
        before = stage;
        next_stage();
      }
      await_mma<0>();
      fence_sums(d);
      release(before);

      const auto epilogue = [&](int j, int at_row, int at) {
        const Pair sums(d[j], d[j + 1]);
        if constexpr (Tile::kGemms == 1) {
          return Epilogue::apply(operands, at_row, at, m, n, sums);
        } else {
          const Pair second(d[kHalf / 2 + j], d[kHalf / 2 + j + 1]);
          return Epilogue::apply(operands, at_row, at, m, n, sums, second);
        }
      };
      // What was stored before has left shared memory.
      if (leads) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
      meet(1 + consumer, 128);
      const int at_row = row + 16 * warp + lane / 4;
      const int matrix_row = 16 * warp + lane % 16;  // that this lane addresses, of the warp's 16
      const int swizzle = kStrip == 64 ? matrix_row % 8 : matrix_row / 2 % 4;
#pragma unroll
      for (int c = 0; c < kColumns / 16; ++c) {
        u32 words[4];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int j = 4 * (2 * c + i);
          const int at = column + 16 * c + 8 * i + 2 * (lane % 4);
          // d[j] and its neighbour, and their fellows eight rows below.
          words[2 * i] = packed<T>(epilogue(j, at_row, at));
          words[2 * i + 1] = packed<T>(epilogue(j + 2, at_row + 8, at));
        }
        const int strip = 16 * c / kStrip, chunk = 16 * c % kStrip / 8 + lane / 16;
        store_matrices(out + (strip * 64 + matrix_row) * (2 * kStrip) + ((chunk ^ swizzle) << 4),
                       words);
      }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      meet(1 + consumer, 128);
      if (leads) {
        for (int c = 0; c < kColumns / kStrip; ++c) {
          const int at = column + c * kStrip;
          if (at < n) store_tile(&out_map, at, row, out + c * (64 * 2 * kStrip));
        }
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
      }
    }
    if (leads) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
  }
}

}  // namespace epi::device
