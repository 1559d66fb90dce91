// SPDX-License-Identifier: Apache-2.0
// What the tile forms of a GEMM share: the order of the tiles, the warp that loads them, and the
// epilogue. A stage of the ring holds rows of x and two tiles of weight rows: either of one GEMM,
// or one of gate and one of up, one below the other, so that one instruction multiplies both and a
// thread holds the same element of both sums.
#pragma once

#include "epilogue/compiler/codegen/device/pair.cuh"
#include "epilogue/compiler/codegen/device/wgmma.cuh"

namespace epi::device {

template <int kRowCount, int kHalfRows, int kStageCount, int kStripColumns, int kGemmCount>
struct Tile {
  static constexpr int kRows = kRowCount;  // of x: 128 or 256
  static constexpr int kHalf = kHalfRows;  // weight rows of each of the two tiles in a stage
  static constexpr int kStages = kStageCount;
  static constexpr int kStrip = kStripColumns;  // output columns per TMA store
  static constexpr int kGemms = kGemmCount;

  static constexpr int kColumns = 2 * kHalf / kGemms;  // of the output
  static constexpr u32 kXBytes = kRows * 128, kHalfBytes = kHalf * 128;
  static constexpr u32 kStageBytes = kXBytes + 2 * kHalfBytes;
  static constexpr u32 kOutBytes = 64 * kColumns * 2;  // per warpgroup
};

// The parts of shared memory, as addresses.
template <typename Tile>
struct TileMemory {
  u32 stages, outs, full, empty;
  __device__ __forceinline__ explicit TileMemory(u32 start)
      : stages(start),
        outs(stages + Tile::kStages * Tile::kStageBytes),
        full(outs + 2 * Tile::kOutBytes),
        empty(full + 8 * Tile::kStages) {}
};

// Consecutive tiles share weights, and groups of tiles share rows of x in the L2 cache.
template <typename Tile>
struct TileOrder {
  int row_tiles, column_tiles;
  __device__ __forceinline__ TileOrder(int m, int n)
      : row_tiles((m + Tile::kRows - 1) / Tile::kRows),
        column_tiles((n + Tile::kColumns - 1) / Tile::kColumns) {}
  __device__ __forceinline__ int count() const { return row_tiles * column_tiles; }
  __device__ __forceinline__ void place(int tile, int& row, int& column) const {
    constexpr int kGroup = 2048 / Tile::kRows;  // row tiles that share weights
    const int group = tile / (kGroup * column_tiles);
    const int first = group * kGroup;
    const int rows = ::min(kGroup, row_tiles - first);
    const int within = tile - group * kGroup * column_tiles;
    row = (first + within % rows) * Tile::kRows;
    column = within / rows * Tile::kColumns;
  }
};

// The current stage of the ring, and how often it was used, modulo two.
template <int kStages>
struct RingPosition {
  int stage = 0;
  u32 parity = 0;
  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

template <typename Tile>
__device__ __forceinline__ void init_tiles(const TileMemory<Tile>& memory, const TensorMap& x_map,
                                           const TensorMap& w0_map, const TensorMap& w1_map,
                                           const TensorMap& out_map) {
  if (threadIdx.x == 0) {
    prefetch_map(&x_map);
    prefetch_map(&w0_map);
    prefetch_map(&w1_map);
    prefetch_map(&out_map);
    for (int s = 0; s < Tile::kStages; ++s) {
      init_barrier(memory.full + 8 * s, 1);
      init_barrier(memory.empty + 8 * s, 8);  // one arrival per multiplying warp
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
}

// Loads all tiles of this block. Runs in one thread. The first weights do not wait for the
// preceding kernel.
template <typename Tile>
__device__ __forceinline__ void load_tiles(const TileMemory<Tile>& memory,
                                           const TileOrder<Tile>& order, const TensorMap& x_map,
                                           const TensorMap& w0_map, const TensorMap& w1_map,
                                           int depth) {
  RingPosition<Tile::kStages> ring;
  const auto load_weights = [&](int step, int column) {
    const u32 barrier = memory.full + 8 * ring.stage;
    const u32 to = memory.stages + ring.stage * Tile::kStageBytes + Tile::kXBytes;
    expect_bytes(barrier, Tile::kStageBytes);
    load_tile(to, &w0_map, step * 64, column, barrier);
    load_tile(to + Tile::kHalfBytes, &w1_map, step * 64,
              column + (Tile::kGemms == 2 ? 0 : Tile::kHalf), barrier);
  };
  const auto load_x = [&](int step, int row) {
    load_tile(memory.stages + ring.stage * Tile::kStageBytes, &x_map, step * 64, row,
              memory.full + 8 * ring.stage);
  };
  int row, column;
  order.place(blockIdx.x, row, column);
  const int ahead = ::min(depth, Tile::kStages);
  for (int step = 0; step < ahead; ++step, ring.advance()) load_weights(step, column);
  wait_for_inputs();
  ring = {};
  for (int step = 0; step < ahead; ++step, ring.advance()) load_x(step, row);
  int first = ahead;  // step of the first tile that is not loaded yet
  for (int tile = blockIdx.x; tile < order.count(); tile += gridDim.x, first = 0) {
    order.place(tile, row, column);
    for (int step = first; step < depth; ++step, ring.advance()) {
      wait(memory.empty + 8 * ring.stage, ring.parity ^ 1);
      load_weights(step, column);
      load_x(step, row);
    }
  }
}

// Applies the epilogue to the sums of a warpgroup, 64 rows of the output, and stores them.
// `consumer` is the number of the warpgroup.
template <typename T, typename Tile, typename Epilogue>
__device__ __forceinline__ void store_rows(const float (&d)[Tile::kHalf], int row, int column,
                                           int consumer, u32 outs, const TensorMap& out_map,
                                           const Operands& operands, int m, int n) {
  constexpr int kStrip = Tile::kStrip, kHalf = Tile::kHalf;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
  const bool is_leader = threadIdx.x % 128 == 0;
  const u32 out = outs + consumer * Tile::kOutBytes;
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
  for (int c = 0; c < Tile::kColumns / 16; ++c) {
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
    for (int c = 0; c < Tile::kColumns / kStrip; ++c) {
      const int at = column + c * kStrip;
      if (at < n) store_tile(&out_map, at, row, out + c * (64 * 2 * kStrip));
    }
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
}

// Before the block ends.
__device__ __forceinline__ void wait_for_stores() {
  if (threadIdx.x % 128 == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

}  // namespace epi::device
