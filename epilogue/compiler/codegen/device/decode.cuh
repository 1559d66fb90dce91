// SPDX-License-Identifier: Apache-2.0
// The decode form of a GEMM, for at most 8 rows of x. It is bound by reading the weights: four
// warps copy pieces of weight rows and of the rows of x into a ring of stages, and eight warps
// multiply them. Each of these has its part of every piece, and they add up their sums at the end
// of a tile. With programmatic dependent launch the ring is filled with weights before the
// preceding kernel has finished.
//
// Both matrices may have k in any order if it is the same one. A lane takes eight elements in a
// row, 16 bytes, of x and of the weights: they feed two instructions of depth 16.
#pragma once

#include "epilogue/compiler/codegen/device/mma.cuh"
#include "epilogue/compiler/codegen/device/pair.cuh"

namespace epi::device {

template <int kGemmCount>
struct Decode {
  static constexpr int kGemms = kGemmCount;

  static constexpr int kTokens = 8;                        // max rows of x
  static constexpr int kColumns = 16;                      // of the output in a tile
  static constexpr int kRows = kGemms * kColumns;          // weight rows of a tile
  static constexpr int kWarps = 8;                         // that multiply
  static constexpr int kLoaders = 4;                       // warps that copy
  static constexpr int kDepth = 32;                        // k of a warp's step
  static constexpr int kSteps = 4 / kGemms;                // of a warp in a stage of about 32 KB
  static constexpr int kChunk = kWarps * kSteps * kDepth;  // k of a stage
  // Pitches without bank conflicts: of rows in a stage, and of the sums of a row of x.
  static constexpr u32 kPitch = 2 * kChunk + 64;
  static constexpr int kSumPitch = kRows + 4;
  static constexpr u32 kSumBytes = 4 * kWarps * kTokens * kSumPitch;
};

// Runs in a block of 384 threads. `Epilogue` is as in tiles.cuh. The weights are loaded `early` if
// the preceding kernel does not write them.
template <typename T, typename Decode, typename Epilogue>
__device__ __forceinline__ void run_decode(const T* x, long long x_stride, const T* w0, const T* w1,
                                           T* out, const Operands& operands, int m, int n, int k,
                                           int stages, int early) {
  constexpr int kGemms = Decode::kGemms, kRows = Decode::kRows, kColumns = Decode::kColumns;
  constexpr int kWarps = Decode::kWarps, kSteps = Decode::kSteps, kChunk = Decode::kChunk;
  constexpr int kSumPitch = Decode::kSumPitch;
  constexpr u32 kPitch = Decode::kPitch;

  extern __shared__ __align__(1024) unsigned char shared[];
  float* const sums = reinterpret_cast<float*>(shared);
  const unsigned char* const ring = shared + Decode::kSumBytes;
  const u32 stage_bytes = (kRows + m) * kPitch;
  const u32 full = address_of(ring) + stages * stage_bytes, empty = full + 8 * stages;
  if (threadIdx.x == 0) {
    for (int s = 0; s < stages; ++s) {
      init_barrier(full + 8 * s, Decode::kLoaders);
      init_barrier(empty + 8 * s, kWarps);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();

  // The columns of this block, an even number. All blocks have the same number, or two less.
  const auto boundary = [&](u32 block) {
    return static_cast<int>(static_cast<long long>(n / 2) * block / gridDim.x) * 2;
  };
  const int begin = boundary(blockIdx.x), end = boundary(blockIdx.x + 1);
  const int chunks = (k + kChunk - 1) / kChunk;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int stage = 0;
  u32 parity = 0;
  const auto next_stage = [&] {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  };

  if (warp >= kWarps) {
    // A warp issues its copies one after another, so several warps share them. A lane copies one
    // row: of the weights, or of x.
    const int row = warp - kWarps + lane * Decode::kLoaders;
    const bool is_x = row >= kRows, exists = row < kRows + m;
    const T* const source = is_x             ? x + (row - kRows) * x_stride
                            : row < kColumns ? w0 + static_cast<long long>(row) * k
                                             : w1 + static_cast<long long>(row - kColumns) * k;
    int tile = begin, chunk = 0;
    const auto next_chunk = [&] {
      next_stage();
      if (++chunk == chunks) {
        chunk = 0;
        tile += kColumns;
      }
    };
    const auto is_used = [&] { return exists && (is_x || tile + row % kColumns < end); };
    const auto bytes = [&] { return 2 * ::min(kChunk, k - chunk * kChunk); };
    const auto expect = [&] {
      const int rows = __popc(__ballot_sync(0xffffffff, is_used()));
      if (lane == 0) expect_bytes(full + 8 * stage, rows * bytes());
      __syncwarp();
    };
    const auto copy = [&] {
      const T* from = source + chunk * kChunk + (is_x ? 0 : static_cast<long long>(tile) * k);
      copy_bytes(address_of(ring) + stage * stage_bytes + row * kPitch, from, bytes(),
                 full + 8 * stage);
    };
    const int steps = (end - begin + kColumns - 1) / kColumns * chunks;
    const int ahead = ::min(stages, steps);
    if (!early) wait_for_inputs();
    for (int step = 0; step < ahead; ++step, next_chunk()) {
      expect();
      if (!is_x && is_used()) copy();
    }
    if (early) wait_for_inputs();
    stage = chunk = 0;
    parity = 0;
    tile = begin;
    for (int step = 0; step < ahead; ++step, next_chunk()) {
      if (is_x && exists) copy();
    }
    for (int step = ahead; step < steps; ++step, next_chunk()) {
      wait(empty + 8 * stage, parity ^ 1);
      expect();
      if (is_used()) copy();
    }
    return;
  }

  wait_for_inputs();
  // Lanes of a warp: `group` is a weight row, or a row of x, and `quad` a part of the depth.
  const int group = lane / 4, quad = lane % 4;
  for (int tile = begin; tile < end; tile += kColumns) {
    float d[kGemms][2][4] = {};  // two sums, so that instructions overlap
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const int length = ::min(kChunk, k - chunk * kChunk);
      wait(full + 8 * stage, parity);
      const unsigned char* const from = ring + stage * stage_bytes;
#pragma unroll
      for (int s = 0; s < kSteps; ++s) {
        const int at = (s * kWarps + warp) * Decode::kDepth;
        if (at >= length) break;
        // Behind a row that ends there is memory of an earlier stage, which may be anything.
        const bool is_inside = at + 8 * quad < length;
        const auto part = [&](int row) {
          const auto* loaded =
              reinterpret_cast<const uint4*>(from + row * kPitch + 2 * at + 16 * quad);
          return is_inside ? *loaded : uint4{0, 0, 0, 0};
        };
        const uint4 b = part(kRows + ::min(group, m - 1));  // sums of rows from m on are not read
#pragma unroll
        for (int g = 0; g < kGemms; ++g) {
          const uint4 upper = part(kColumns * g + group), lower = part(kColumns * g + 8 + group);
          multiply_16x8<T>(d[g][0], upper.x, lower.x, upper.y, lower.y, b.x, b.y);
          multiply_16x8<T>(d[g][1], upper.z, lower.z, upper.w, lower.w, b.z, b.w);
        }
      }
      __syncwarp();
      if (lane == 0) arrive(empty + 8 * stage);
      next_stage();
    }

    float* const mine = sums + warp * (Decode::kTokens * kSumPitch);
#pragma unroll
    for (int g = 0; g < kGemms; ++g) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int token = 2 * quad + i % 2, column = group + i / 2 * 8;
        mine[token * kSumPitch + kColumns * g + column] = d[g][0][i] + d[g][1][i];
      }
    }
    barrier_sync(1, 32 * kWarps);
    // A thread for each pair of columns of a row of x.
    const int token = threadIdx.x / (kColumns / 2), at = threadIdx.x % (kColumns / 2) * 2;
    const int column = tile + at;
    if (token < m && column < end) {
      float total[kGemms][2] = {};
#pragma unroll
      for (int w = 0; w < kWarps; ++w) {
        const float* from = sums + (w * Decode::kTokens + token) * kSumPitch + at;
#pragma unroll
        for (int g = 0; g < kGemms; ++g) {
          total[g][0] += from[kColumns * g];
          total[g][1] += from[kColumns * g + 1];
        }
      }
      const auto epilogue = [&] {
        const Pair first(total[0][0], total[0][1]);
        if constexpr (kGemms == 1) {
          return Epilogue::apply(operands, token, column, m, n, first);
        } else {
          const Pair second(total[1][0], total[1][1]);
          return Epilogue::apply(operands, token, column, m, n, first, second);
        }
      };
      *reinterpret_cast<u32*>(out + static_cast<long long>(token) * n + column) =
          packed<T>(epilogue());
    }
    barrier_sync(1, 32 * kWarps);
  }
}

}  // namespace epi::device
