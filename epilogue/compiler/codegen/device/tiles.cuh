// SPDX-License-Identifier: Apache-2.0
// The tile form of a GEMM with 128 rows of x: one thread loads tiles into a ring of stages, and two
// warpgroups multiply them, 64 rows each.
#pragma once

#include "epilogue/compiler/codegen/device/tile_parts.cuh"

namespace epi::device {

// Runs in a block of 384 threads. `Epilogue::apply(operands, row, column, m, n, sums...)` returns
// two elements of the output.
template <typename T, typename Tile, typename Epilogue>
__device__ __forceinline__ void run_tiles(const TensorMap& x_map, const TensorMap& w0_map,
                                          const TensorMap& w1_map, const TensorMap& out_map,
                                          const Operands& operands, int m, int n, int k) {
  constexpr int kHalf = Tile::kHalf;
  extern __shared__ __align__(1024) unsigned char shared[];
  const TileMemory<Tile> memory(address_of(shared));
  init_tiles(memory, x_map, w0_map, w1_map, out_map);
  const int depth = (k + 63) / 64;
  const TileOrder<Tile> order(m, n);
  const int warpgroup = threadIdx.x / 128;
  if (warpgroup == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) load_tiles(memory, order, x_map, w0_map, w1_map, depth);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  wait_for_inputs();
  const int consumer = warpgroup - 1;
  const auto release = [&](int s) {
    if (threadIdx.x % 32 == 0) arrive(memory.empty + 8 * s);
  };
  RingPosition<Tile::kStages> ring;
  float d[kHalf];
  for (int tile = blockIdx.x; tile < order.count(); tile += gridDim.x) {
    int row, column;
    order.place(tile, row, column);
    int previous = 0;
    for (int step = 0; step < depth; ++step) {
      wait(memory.full + 8 * ring.stage, ring.parity);
      const u32 from = memory.stages + ring.stage * Tile::kStageBytes;
      const u64 a = tile_descriptor(from + consumer * (64 * 128));
      const u64 b = tile_descriptor(from + Tile::kXBytes);
      begin_mma();
      multiply<T, 2 * kHalf>(d, a, b, step > 0);
      commit_mma();
      if (step > 0) {
        wait_mma<1>();
        release(previous);
      }
      previous = ring.stage;
      ring.advance();
    }
    wait_mma<0>();
    fence_sums(d);
    release(previous);
    store_rows<T, Tile, Epilogue>(d, row + 64 * consumer, column, consumer, memory.outs, out_map,
                                  operands, m, n);
  }
  wait_for_stores();
}

}  // namespace epi::device
