// SPDX-License-Identifier: Apache-2.0
// The tile form: one thread brings tiles of x and of the weights into a ring of stages, two
// warpgroups multiply them, 64 rows each. A stage holds 256 rows of weights: of one product, or 128
// of gate and 128 of up, one below the other, so that one instruction multiplies both and a thread
// has the same element of both sums.
#include <fmt/format.h>

#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/compiler/codegen/hopper_parts.h"

namespace epi::compiler {
namespace {

constexpr const char* kKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(384, 1) @name@(
    const __grid_constant__ TensorMap x_map, const __grid_constant__ TensorMap w0_map,
    const __grid_constant__ TensorMap w1_map, const __grid_constant__ TensorMap out_map,
    const Operands operands, const int m, const int n, const int k) {
  constexpr int kStages = @stages@;
  constexpr int kHalf = @half@;        // rows of weights of each of two tiles in a stage
  constexpr int kColumns = @columns@;  // of a tile of the output
  constexpr int kStrip = @strip@;      // columns of it that are stored at once
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
    const int rows = min(kGroup, row_tiles - first);
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
          load_tile(to + kXBytes + kHalfBytes, &w1_map, step * 64, column + @second@, barrier);
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
        begin_products();
#pragma unroll
        for (int i = 0; i < 4; ++i) multiply_@multiply@<@type@>(d, a + 2 * i, b + 2 * i, step + i > 0);
        commit_products();
        if (step > 0) {
          await_products<1>();
          release(before);
        }
        before = stage;
        next_stage();
      }
      await_products<0>();
      fence_sums(d);
      release(before);

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
          words[2 * i] = packed<@type@>(@upper@);
          words[2 * i + 1] = packed<@type@>(@lower@);
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
)cuda";

}  // namespace

int HopperTile::columns(const GemmCode& code) const { return 2 * half / code.products; }

// Where two warpgroups' strips of the output are 128 bytes wide, or where they must be 64.
int HopperTile::strip(const GemmCode& code) const { return columns(code) % 64 == 0 ? 64 : 32; }

int64_t HopperTile::stage_bytes() const {
  constexpr int64_t kBarriers = 16;
  return (kTileRows + 2 * half) * kTileDepth * 2 + kBarriers;
}

int HopperTile::stages(const GemmCode& code) const {
  const int64_t staged = kTileRows * columns(code) * 2;
  return static_cast<int>((kMostSharedBytes - staged) / stage_bytes());
}

int64_t HopperTile::shared_bytes(const GemmCode& code) const {
  return stages(code) * stage_bytes() + kTileRows * columns(code) * 2;
}

std::string emit_hopper_tiles(const std::string& name, const GemmCode& code,
                              const HopperTile& tile) {
  // The epilogue of d[j] and its neighbour, and of their fellows in the other half.
  const auto element = [&](const char* j, const char* row) {
    const std::string sums = fmt::format("Pair(d[{0}], d[{0} + 1])", j);
    const std::string others = fmt::format(", Pair(d[kHalf / 2 + {0}], d[kHalf / 2 + {0} + 1])", j);
    return fmt::format("{}_element(operands, {}, at, m, n, {}{})", name, row, sums,
                       code.products == 2 ? others : "");
  };
  const auto number = [](int64_t value) { return std::to_string(value); };
  return element_function(name, code) +
         filled(kKernel, {{"name", name},
                          {"stages", number(tile.stages(code))},
                          {"half", number(tile.half)},
                          {"columns", number(tile.columns(code))},
                          {"strip", number(tile.strip(code))},
                          {"multiply", number(2 * tile.half)},
                          {"second", number(code.products == 2 ? 0 : tile.half)},
                          {"type", cuda_type(code.dtype)},
                          {"upper", element("j", "at_row")},
                          {"lower", element("j + 2", "at_row + 8")}});
}

}  // namespace epi::compiler
