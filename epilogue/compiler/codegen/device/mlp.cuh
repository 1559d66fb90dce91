// SPDX-License-Identifier: Apache-2.0
// The MLP form: two GEMMs, the second of which takes the result of the first, as one kernel. All
// weights are in the shared memory of a cluster, and each of its blocks has a part of the hidden
// columns, for the rows of x that the cluster computes. A warp keeps its hidden activations in
// registers, where they are an operand of the second GEMM. The blocks add up their sums at the end.
#pragma once

#include "epilogue/compiler/codegen/device/mma.cuh"
#include "epilogue/compiler/codegen/device/pair.cuh"

namespace epi::device {

// Loads four matrices of 8 by 8. Lane i has the address of row i % 8 of matrix i / 8.
__device__ __forceinline__ void load_matrices(u32 (&words)[4], u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(from)
               : "memory");
}

// --- Clusters ------------------------------------------------------------------------------------
__device__ __forceinline__ u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
// A barrier of all threads of the cluster, after which their writes to shared memory are visible.
__device__ __forceinline__ void arrive_at_cluster() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ __forceinline__ void wait_for_cluster() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
// The address in a block of the cluster that corresponds to `address` in this one.
__device__ __forceinline__ u32 address_in(u32 rank, u32 address) {
  u32 there;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
  return there;
}
// Writes to the shared memory of any block of the cluster.
__device__ __forceinline__ void write_shared(u32 address, float a, float b) {
  asm volatile("st.shared::cluster.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(a), "f"(b)
               : "memory");
}

// --- Asynchronous copies by a thread -------------------------------------------------------------
// Copies 16 bytes, or writes zeros.
__device__ __forceinline__ void copy_16(u32 to, const void* from, bool exists) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
               "r"(exists ? 16 : 0)
               : "memory");
}
__device__ __forceinline__ void commit_copies() { asm volatile("cp.async.commit_group;"); }
template <int kInFlight>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kInFlight) : "memory");
}

struct Mlp {
  static constexpr int kWarps = 8;
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kBlocks = 8;        // of a cluster
  static constexpr int kMaxColumns = 256;  // of the output

  static __device__ __forceinline__ int in_tiles(int size) { return (size + 15) / 16; }
  // Bytes from one row of `columns` elements to the next, padded against bank conflicts.
  static __device__ __forceinline__ u32 pitch(int columns) { return 2 * columns + 16; }
};

// A matrix in global memory: elements outside of it are zero.
template <typename T>
struct MlpMatrix {
  const T* data;
  long long stride;
  int rows, columns;
};

// Copies `rows` rows by `columns` columns, a multiple of 8, with all threads of the block.
template <typename T>
__device__ __forceinline__ void copy_matrix(u32 to, const MlpMatrix<T>& from, int rows,
                                            int columns) {
  const int width = columns / 8;
  const u32 pitch = Mlp::pitch(columns);
  const int row_step = Mlp::kThreads / width, part_step = Mlp::kThreads % width;
  int row = threadIdx.x / width, part = threadIdx.x % width;
  while (row < rows) {
    const bool exists = row < from.rows && part * 8 < from.columns;
    const T* source = exists ? from.data + row * from.stride + part * 8 : from.data;
    copy_16(to + row * pitch + part * 16, source, exists);
    row += row_step;
    part += part_step;
    if (part >= width) {
      part -= width;
      ++row;
    }
  }
}

// The sizes of a launch. A cluster computes 16 * row_groups rows.
struct MlpSizes {
  int m, n, k, out;
  int row_groups;  // 1, 2, 4 or 8
  int early;       // the preceding kernel does not write the weights
};

// Runs in a block of 256 threads. `Epilogue` and `DownEpilogue` are as in tiles.cuh.
template <typename T, int kGemms, typename Epilogue, typename DownEpilogue>
__device__ __forceinline__ void run_mlp(const T* x, long long x_stride, const T* w0, const T* w1,
                                        const T* down, T* y, const Operands& operands,
                                        const Operands& down_operands, const MlpSizes& sizes) {
  extern __shared__ __align__(1024) unsigned char shared[];
  constexpr int kBlocks = Mlp::kBlocks;
  const int m = sizes.m, n = sizes.n, k = sizes.k, out = sizes.out;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int group = lane / 4, quad = lane % 4;
  const int rank = cluster_rank(), rows = 16 * sizes.row_groups;
  const int first_row = static_cast<int>(blockIdx.x) / kBlocks * rows;
  // The hidden columns of this block, and the columns of x, both in tiles of 16.
  const int tiles = (Mlp::in_tiles(n) + kBlocks - 1) / kBlocks, columns = 16 * tiles;
  const int begin = rank * columns, depth = 16 * Mlp::in_tiles(k);

  const u32 x_rows = address_of(shared), row_pitch = Mlp::pitch(depth);
  const u32 w0_rows = x_rows + rows * row_pitch, w1_rows = w0_rows + columns * row_pitch;
  const u32 down_rows = w0_rows + kGemms * columns * row_pitch, down_pitch = Mlp::pitch(columns);
  const u32 sum_parts = down_rows + 16 * Mlp::in_tiles(out) * down_pitch;

  arrive_at_cluster();
  if (!sizes.early) wait_for_inputs();
  const int exist = ::max(0, ::min(columns, n - begin));
  const long long at = exist > 0 ? begin : 0;
  copy_matrix<T>(w0_rows, {w0 + at * k, k, exist, k}, columns, depth);
  if (kGemms == 2) copy_matrix<T>(w1_rows, {w1 + at * k, k, exist, k}, columns, depth);
  if (sizes.early) wait_for_inputs();
  copy_matrix<T>(x_rows, {x + first_row * x_stride, x_stride, m - first_row, k}, rows, depth);
  commit_copies();
  copy_matrix<T>(down_rows, {down + at, n, out, exist}, 16 * Mlp::in_tiles(out), columns);
  commit_copies();

  // A warp has 16 rows, and every column_groups-th tile of hidden columns.
  const int column_groups = ::min(Mlp::kWarps / sizes.row_groups, tiles);
  const int row_group = warp % sizes.row_groups, column_group = warp / sizes.row_groups;
  // The lane's rows in load_matrices: of the left operand, 16 rows by 16 columns, and of weights.
  const u32 left = lane % 16 * row_pitch + lane / 16 * 16;
  const auto right = [&](u32 pitch) {
    return (lane / 16 * 8 + lane % 8) * pitch + lane / 8 % 2 * 16;
  };
  const u32 x_tile = x_rows + 16 * row_group * row_pitch + left;
  const u32 w_tile = w0_rows + right(row_pitch), down_tile = down_rows + right(down_pitch);

  u32 h[4];
  const auto compute_hidden = [&](int tile) {
    float d[kGemms][2][4] = {};
    const u32 w = w_tile + 16 * tile * row_pitch;
#pragma unroll 4
    for (int at = 0; at < 2 * depth; at += 32) {
      u32 a[4];
      load_matrices(a, x_tile + at);
#pragma unroll
      for (int g = 0; g < kGemms; ++g) {
        u32 b[4];
        load_matrices(b, w + g * columns * row_pitch + at);
        multiply_16x8<T>(d[g][0], a[0], a[1], a[2], a[3], b[0], b[1]);
        multiply_16x8<T>(d[g][1], a[0], a[1], a[2], a[3], b[2], b[3]);
      }
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = first_row + 16 * row_group + group + i % 2 * 8;
      const int column = begin + 16 * tile + i / 2 * 8 + 2 * quad;
      const auto pair = [&](int g) {
        return Pair(d[g][i / 2][i % 2 * 2], d[g][i / 2][i % 2 * 2 + 1]);
      };
      const auto epilogue = [&] {
        if constexpr (kGemms == 1) {
          return Epilogue::apply(operands, row, column, m, n, pair(0));
        } else {
          return Epilogue::apply(operands, row, column, m, n, pair(0), pair(1));
        }
      };
      h[i] = column < n ? packed<T>(epilogue()) : 0;
    }
  };

  constexpr int kOutTiles = Mlp::kMaxColumns / 16;
  float sums[kOutTiles][2][4] = {};
  const auto add_to_sums = [&](int tile) {
#pragma unroll
    for (int j = 0; j < kOutTiles; ++j) {
      if (16 * j >= out) break;
      u32 b[4];
      load_matrices(b, down_tile + 16 * j * down_pitch + 32 * tile);
      multiply_16x8<T>(sums[j][0], h[0], h[1], h[2], h[3], b[0], b[1]);
      multiply_16x8<T>(sums[j][1], h[0], h[1], h[2], h[3], b[2], b[3]);
    }
  };

  wait_copies<1>();
  __syncthreads();
  int tile = column_group < column_groups ? column_group : tiles;
  if (tile < tiles) compute_hidden(tile);
  wait_copies<0>();
  __syncthreads();
  while (tile < tiles) {
    add_to_sums(tile);
    tile += column_groups;
    if (tile < tiles) compute_hidden(tile);
  }

  // The sums of 16 rows and 8 columns are added up by one of the blocks, which gets them from all
  // warps that have a part of them.
  const u32 parts = kBlocks * column_groups, unit_bytes = 512 * parts;
  wait_for_cluster();  // the other blocks have started
  if (column_group < column_groups) {
    const u32 part = 512 * (rank * column_groups + column_group) + 8 * lane;
#pragma unroll
    for (int j = 0; j < 2 * kOutTiles; ++j) {
      if (8 * j >= out) break;
      const u32 unit = j * sizes.row_groups + row_group;
      const u32 to = address_in(unit % kBlocks, sum_parts + unit / kBlocks * unit_bytes + part);
      const float(&d)[4] = sums[j / 2][j % 2];
      write_shared(to, d[0], d[1]);
      write_shared(to + 256, d[2], d[3]);
    }
  }
  arrive_at_cluster();
  wait_for_cluster();

  // A warp for each unit of this block.
  const int units = out / 8 * sizes.row_groups;
  for (int unit = rank + warp * kBlocks; unit < units; unit += Mlp::kWarps * kBlocks) {
    const int row = first_row + unit % sizes.row_groups * 16 + lane / 2;
    const int column = unit / sizes.row_groups * 8 + lane % 2 * 4;
    const auto* from = reinterpret_cast<const float4*>(shared + (sum_parts - x_rows) +
                                                       unit / kBlocks * unit_bytes) +
                       lane;
    float4 total{0, 0, 0, 0};
#pragma unroll 8
    for (u32 part = 0; part < parts; ++part) {
      const float4 more = from[32 * part];
      total = {total.x + more.x, total.y + more.y, total.z + more.z, total.w + more.w};
    }
    if (row >= m) continue;
    const auto finish = [&](int at, float a, float b) {
      return packed<T>(DownEpilogue::apply(down_operands, row, at, m, out, Pair(a, b)));
    };
    *reinterpret_cast<uint2*>(y + static_cast<long long>(row) * out + column) =
        uint2{finish(column, total.x, total.y), finish(column + 2, total.z, total.w)};
  }
}

}  // namespace epi::device
