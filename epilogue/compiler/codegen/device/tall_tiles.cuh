// SPDX-License-Identifier: Apache-2.0
// The tile form of a GEMM with 256 rows of x, which reads weights half as often. A warpgroup
// multiplies 128 rows as two halves, one ahead of the other: while the lower 64 rows of a tile go
// through the epilogue, the upper 64 rows of the next tile are multiplied, so that the tensor cores
// do not wait. They get as far as the ring holds stages.
#pragma once

#include "epilogue/compiler/codegen/device/tile_parts.cuh"

namespace epi::device {

// As run_tiles, for at least as many steps of k as the ring has stages.
template <typename T, typename Tile, typename Epilogue>
__device__ __forceinline__ void run_tall_tiles(const TensorMap& x_map, const TensorMap& w0_map,
                                               const TensorMap& w1_map, const TensorMap& out_map,
                                               const Operands& operands, int m, int n, int k) {
  constexpr int kHalf = Tile::kHalf, kStages = Tile::kStages;
  extern __shared__ __align__(1024) unsigned char shared[];
  const TileMemory<Tile> memory(address_of(shared));
  init_tiles(memory, x_map, w0_map, w1_map, out_map);
  const int depth = (k + 63) / 64;
  const TileOrder<Tile> order(m, n);
  const int warpgroup = threadIdx.x / 128;
  if (warpgroup == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x == 0) load_tiles(memory, order, x_map, w0_map, w1_map, depth);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  wait_for_inputs();
  const int consumer = warpgroup - 1;
  const auto release = [&](int s) {
    if (threadIdx.x % 32 == 0) arrive(memory.empty + 8 * s);
  };
  const auto multiply_rows = [&](float(&d)[kHalf], int stage, int first_row, int step) {
    const u32 from = memory.stages + stage * Tile::kStageBytes;
    const u64 a = tile_descriptor(from + (128 * consumer + first_row) * 128);
    const u64 b = tile_descriptor(from + Tile::kXBytes);
    multiply<T, 2 * kHalf>(d, a, b, step > 0);
    commit_mma();
  };
  RingPosition<kStages> ring;
  float upper[kHalf], lower[kHalf];
  int lead = 0;  // steps of this tile that the upper rows have done
  for (int tile = blockIdx.x;; tile += gridDim.x) {
    int row, column;
    order.place(tile, row, column);
    row += 128 * consumer;
    int previous = 0;
    // Not unrolled, which would double the time to compile.
#pragma unroll 1
    for (int step = 0; step < lead; ++step) {
      begin_mma();
      multiply_rows(lower, ring.stage, 64, step);
      if (step > 0) {
        wait_mma<1>();
        release(previous);
      }
      previous = ring.stage;
      ring.advance();
    }
#pragma unroll 1
    for (int step = lead; step < depth; ++step) {
      wait(memory.full + 8 * ring.stage, ring.parity);
      begin_mma();
      multiply_rows(upper, ring.stage, 0, step);
      multiply_rows(lower, ring.stage, 64, step);
      if (step > 0) {
        wait_mma<2>();
        release(previous);
      }
      previous = ring.stage;
      ring.advance();
    }
    wait_mma<1>();
    fence_sums(upper);
    store_rows<T, Tile, Epilogue>(upper, row, column, consumer, memory.outs, out_map, operands, m,
                                  n);
    wait_mma<0>();
    fence_sums(lower);
    release(previous);
    // Two calls: the compiler would wait for the products before a point that both ways reach.
    const auto store_lower = [&] {
      store_rows<T, Tile, Epilogue>(lower, row + 64, column, consumer, memory.outs, out_map,
                                    operands, m, n);
    };
    if (tile + gridDim.x >= order.count()) {
      store_lower();
      break;
    }
    lead = kStages;
    RingPosition<kStages> ahead = ring;
#pragma unroll
    for (int step = 0; step < kStages; ++step, ahead.advance()) {
      wait(memory.full + 8 * ahead.stage, ahead.parity);
      begin_mma();
      multiply_rows(upper, ahead.stage, 0, step);
    }
    store_lower();
    wait_mma<0>();
  }
  wait_for_stores();
}

}  // namespace epi::device
