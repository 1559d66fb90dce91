// SPDX-License-Identifier: Apache-2.0
// The stream form, for few rows of x: weights are the first matrix of the instruction, 64 rows at a
// time, and the rows of x, at most 64, the second. Nothing but reading the weights costs time, so
// most of shared memory is a ring of them on their way, which a programmatic dependent launch fills
// before the kernel in front has ended. A tile has fewer rows than 64 where that shares the weights
// out more evenly: the instruction then multiplies what lies behind them, and nobody looks.
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/compiler/codegen/hopper_parts.h"

namespace epi::compiler {
namespace {

constexpr const char* kKernel = R"cuda(
extern "C" __global__ void __launch_bounds__(160, 1) @name@(
    const __grid_constant__ TensorMap x_map, const __grid_constant__ TensorMap w0_map,
    const __grid_constant__ TensorMap w1_map, @type@* out, const Operands operands, const int m,
    const int n, const int k) {
  constexpr int kStages = @stages@, kRows = @rows@, kTokens = @tokens@, kProducts = @products@;
  constexpr int kSlabs = @slabs@;  // of 64 columns in a stage
  constexpr u32 kSlabBytes = kProducts * kRows * 128, kTokenBytes = kTokens * 128;
  constexpr u32 kStageBytes = kSlabs * (kSlabBytes + kTokenBytes);
  const u32 coming = kSlabs * (kSlabBytes + m * 128);  // into a stage: x has m rows, and no more
  constexpr int kPitch = kTokens + 2;  // of the sums

  extern __shared__ __align__(1024) unsigned char shared[];
  const u32 stages = address_of(shared);
  float* sums = reinterpret_cast<float*>(shared + kStages * kStageBytes);
  const u32 full = stages + kStages * kStageBytes + @sums@;
  const u32 empty = full + 8 * kStages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < kStages; ++s) {
      init_barrier(full + 8 * s, 1);
      init_barrier(empty + 8 * s, 4);  // each warp that multiplies
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  const int depth = (k + 64 * kSlabs - 1) / (64 * kSlabs);
  const int tiles = (n + kRows - 1) / kRows;
  const int mine = (tiles - static_cast<int>(blockIdx.x) + gridDim.x - 1) / gridDim.x;
  if (threadIdx.x >= 128) {
    if (threadIdx.x == 128) {
      const auto load_weights = [&](int step) {
        const u32 barrier = full + 8 * (step % kStages);
        const u32 to = stages + step % kStages * kStageBytes;
        const int row = (blockIdx.x + step / depth * gridDim.x) * kRows;
        expect_bytes(barrier, coming);
#pragma unroll
        for (int i = 0; i < kSlabs; ++i) {
          const int column = (step % depth * kSlabs + i) * 64;
          load_tile(to + i * kSlabBytes, &w0_map, column, row, barrier);
          if (kProducts == 2) {
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
      const int steps = mine * depth, ahead = min(steps, kStages);
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
  for (int tile = 0; tile < mine; ++tile) {
    for (int step = 0; step < depth; ++step) {
      wait(full + 8 * stage, parity);
      const u32 from = stages + stage * kStageBytes;
      begin_products();
#pragma unroll
      for (int i = 0; i < 4 * kSlabs; ++i) {
        const u64 a = tile_at(from + i / 4 * kSlabBytes) + i % 4 * 2;
        const u64 b = tile_at(from + kSlabs * kSlabBytes + i / 4 * kTokenBytes) + i % 4 * 2;
        multiply_@tokens@<@type@>(d, a, b, step + i > 0);
      }
      commit_products();
      await_products<0>();
      if (lane == 0) arrive(empty + 8 * stage);
      if (++stage == kStages) {
        stage = 0;
        parity ^= 1;
      }
    }
    fence_sums(d);
    // Gate and up of one element are rows of different threads: they meet in shared memory.
#pragma unroll
    for (int j = 0; j < kTokens / 2; ++j) {
      const int row = 16 * warp + lane / 4 + (j & 2) * 4;
      if (row < kProducts * kRows) sums[row * kPitch + j / 4 * 8 + 2 * (lane % 4) + (j & 1)] = d[j];
    }
    meet(1, 128);
    const int first = (blockIdx.x + tile * gridDim.x) * kRows;
    for (int i = threadIdx.x; i < kRows / 2 * kTokens; i += 128) {
      const int row = i / (kRows / 2), at = i % (kRows / 2) * 2, column = first + at;
      if (row >= m || column >= n) continue;
      const float* sum = sums + at * kPitch + row;
      const Pair result = @name@_element(operands, row, column, m, n, Pair(sum[0], sum[kPitch])@second@);
      *reinterpret_cast<u32*>(out + static_cast<long long>(row) * n + column) = packed<@type@>(result);
    }
    meet(1, 128);
  }
}
)cuda";

int64_t stage_bytes(const GemmCode& code, const HopperStream& stream) {
  return stream.slabs * 128 * (code.products * stream.rows + stream.tokens) + 16;
}
int64_t sums_bytes(const HopperStream& stream) {
  return std::max<int64_t>(64 * (stream.tokens + 2) * 4, 8192);
}

}  // namespace

int HopperStream::stages(const GemmCode& code) const {
  return static_cast<int>((kMostSharedBytes - sums_bytes(*this)) / stage_bytes(code, *this));
}

int64_t HopperStream::shared_bytes(const GemmCode& code) const {
  return stages(code) * stage_bytes(code, *this) + sums_bytes(*this);
}

std::string emit_hopper_stream(const std::string& name, const GemmCode& code,
                               const HopperStream& stream) {
  const bool glu = code.products == 2;
  return element_function(name, code) +
         filled(kKernel,
                {{"name", name},
                 {"stages", std::to_string(stream.stages(code))},
                 {"slabs", std::to_string(stream.slabs)},
                 {"rows", std::to_string(stream.rows)},
                 {"tokens", std::to_string(stream.tokens)},
                 {"products", std::to_string(code.products)},
                 {"type", cuda_type(code.dtype)},
                 {"sums", std::to_string(sums_bytes(stream))},
                 {"second", glu ? ", Pair(sum[kRows * kPitch], sum[(kRows + 1) * kPitch])" : ""}});
}

}  // namespace epi::compiler
