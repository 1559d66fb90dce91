// SPDX-License-Identifier: Apache-2.0
// The kernels that apply a pointwise function. They use 16-byte vectors if all operands are dense
// or broadcast along the last dimension, tiles in shared memory if an input is dense along another
// dimension, and single elements otherwise. A function is a struct with `kInputs`, the types `In`
// and `Out`, and `operator()` on elements of type `Compute<In>`.
#pragma once

#include "epilogue/cuda/element.cuh"
#include "epilogue/cuda/walk.cuh"

namespace epi::cuda {

// One vector per thread. With two or four vectors per thread, GELU over 25 M bf16 takes 28.0
// and 33.5 us on an H200 instead of 27.6 us.
constexpr int kThreads = 256;
constexpr int kVectorBytes = 16;

// Reads the vector at `offset` of an operand. An operand that is broadcast along the last dimension
// is read as one element and replicated.
template <typename T, int kVector>
__device__ __forceinline__ Pack<T, kVector> read(const Walk& walk, int operand, int64_t offset) {
  const T* from = reinterpret_cast<const T*>(walk.data[operand]) + offset;
  if (kVector == 1 || (walk.broadcast >> operand & 1) == 0) {
    return *reinterpret_cast<const Pack<T, kVector>*>(from);
  }
  Pack<T, kVector> pack;
  const T value = *from;
#pragma unroll
  for (int k = 0; k < kVector; ++k) pack.values[k] = value;
  return pack;
}

template <typename F, typename In>
__device__ __forceinline__ typename F::Out apply(const F& f, const In* inputs) {
  if constexpr (F::kInputs == 1) {
    return f(load(inputs[0]));
  } else {
    return f(load(inputs[0]), load(inputs[1]));
  }
}

template <typename F, int kVector>
__global__ void __launch_bounds__(kThreads) pointwise(const __grid_constant__ Walk walk, F f) {
  using In = typename F::In;
  using Out = typename F::Out;
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  if (index >= walk.items) return;
  int64_t offsets[1 + F::kInputs];
  offsets_of(walk, index, offsets);
  Pack<In, kVector> inputs[F::kInputs];
#pragma unroll
  for (int i = 0; i < F::kInputs; ++i) inputs[i] = read<In, kVector>(walk, i + 1, offsets[i + 1]);
  Pack<Out, kVector> result;
#pragma unroll
  for (int k = 0; k < kVector; ++k) {
    In elements[F::kInputs];
#pragma unroll
    for (int i = 0; i < F::kInputs; ++i) elements[i] = inputs[i].values[k];
    result.values[k] = apply(f, elements);
  }
  Out* to = reinterpret_cast<Out*>(walk.data[0]) + offsets[0];
  *reinterpret_cast<Pack<Out, kVector>*>(to) = result;
}

constexpr int kTile = 32;     // rows and columns of a tile: one warp wide
constexpr int kTileRows = 8;  // rows of threads

// Processes the last dimension and one other in tiles. An input whose bit is set in `transposed` is
// dense along the rows: its tile is read in that order and transposed in shared memory. The extra
// column avoids bank conflicts.
template <typename F>
__global__ void __launch_bounds__(kTile* kTileRows)
    pointwise_tiled(const __grid_constant__ Walk walk, F f, uint32_t transposed, uint32_t rows,
                    uint32_t columns, Divisor column_tiles, Divisor row_tiles) {
  using In = typename F::In;
  __shared__ In tiles[F::kInputs][kTile][kTile + 1];
  const uint32_t tile_row = divide(blockIdx.x, column_tiles);
  const uint32_t column = (blockIdx.x - tile_row * column_tiles.value) * kTile;
  const uint32_t outer = divide(tile_row, row_tiles);
  const uint32_t row = (tile_row - outer * row_tiles.value) * kTile;
  int64_t base[1 + F::kInputs];
  offsets_of(walk, outer, base);  // the walk covers the outer dimensions
  const int last = kMaxDims - 1;
  const auto at = [&](int operand, uint32_t r, uint32_t c) {
    return base[operand] + r * walk.strides[operand][last - 1] + c * walk.strides[operand][last];
  };
#pragma unroll
  for (int i = 0; i < F::kInputs; ++i) {
    const bool transpose = (transposed >> (i + 1) & 1) != 0;
    for (int k = threadIdx.y; k < kTile; k += kTileRows) {
      const uint32_t r = row + (transpose ? threadIdx.x : k);
      const uint32_t c = column + (transpose ? k : threadIdx.x);
      if (r >= rows || c >= columns) continue;
      tiles[i][transpose ? threadIdx.x : k][transpose ? k : threadIdx.x] =
          reinterpret_cast<const In*>(walk.data[i + 1])[at(i + 1, r, c)];
    }
  }
  __syncthreads();
  for (int k = threadIdx.y; k < kTile; k += kTileRows) {
    if (row + k >= rows || column + threadIdx.x >= columns) continue;
    In elements[F::kInputs];
#pragma unroll
    for (int i = 0; i < F::kInputs; ++i) elements[i] = tiles[i][k][threadIdx.x];
    reinterpret_cast<typename F::Out*>(walk.data[0])[at(0, row + k, column + threadIdx.x)] =
        apply(f, elements);
  }
}

// With shorter dimensions most of a tile would be empty.
constexpr int64_t kMinTransposedSize = 8;

// Returns a bit mask of the inputs that are dense along a dimension other than the last, and sets
// `row` to that dimension.
inline uint32_t find_transposed(const StridedShape& shape, int& row) {
  uint32_t transposed = 0;
  const int last = shape.rank - 1;
  for (int i = 1; i < shape.operands; ++i) {
    if (shape.strides[i][last] == 0 || shape.strides[i][last] == 1) continue;
    for (int d = 0; d < last; ++d) {
      if (shape.strides[i][d] != 1 || (transposed != 0 && row != d)) continue;
      if (shape.shape[d] < kMinTransposedSize || shape.shape[last] < kMinTransposedSize) continue;
      row = d;
      transposed |= 1U << i;
    }
  }
  return transposed;
}

template <typename F>
void launch_tiled(const StridedShape& shape, int row, uint32_t transposed, F f,
                  cudaStream_t stream) {
  const int last = shape.rank - 1;
  StridedShape outer = shape;
  outer.rank = 0;
  for (int d = 0; d < last; ++d) {
    if (d == row) continue;
    outer.shape[outer.rank] = shape.shape[d];
    for (int i = 0; i < shape.operands; ++i) outer.strides[i][outer.rank] = shape.strides[i][d];
    ++outer.rank;
  }
  if (outer.rank == 0) outer.shape[outer.rank++] = 1;
  Walk walk = make_walk(outer, 1);
  for (int i = 0; i < shape.operands; ++i) {  // the kernel reads them from the last two slots
    walk.strides[i][kMaxDims - 2] = shape.strides[i][row];
    walk.strides[i][kMaxDims - 1] = shape.strides[i][last];
  }
  const auto rows = static_cast<uint32_t>(shape.shape[row]);
  const auto columns = static_cast<uint32_t>(shape.shape[last]);
  const Divisor column_tiles((columns + kTile - 1) / kTile);
  const Divisor row_tiles((rows + kTile - 1) / kTile);
  const dim3 threads(kTile, kTileRows);
  pointwise_tiled<<<walk.items * row_tiles.value * column_tiles.value, threads, 0, stream>>>(
      walk, f, transposed, rows, columns, column_tiles, row_tiles);
}

template <int kVector, typename F>
void launch_items(const StridedShape& shape, F f, cudaStream_t stream) {
  const Walk walk = make_walk(shape, kVector);
  const uint32_t blocks = (walk.items + kThreads - 1) / kThreads;
  pointwise<F, kVector><<<blocks, kThreads, 0, stream>>>(walk, f);
}

// Launches `f` over `shape` on `stream`. The caller checks cudaGetLastError. With `kTiles` false
// the tiled kernel is not compiled: dtype conversions have many rarely used instances.
template <bool kTiles = true, typename F>
void launch_pointwise(const StridedShape& whole, F f, cudaStream_t stream) {
  constexpr int kWidest = sizeof(typename F::In) > sizeof(typename F::Out)
                              ? sizeof(typename F::In)
                              : sizeof(typename F::Out);
  constexpr int kVector = kVectorBytes / kWidest;
  for_each_piece(whole, [&](const StridedShape& shape) {
    if (allows_vectors(shape, kVector)) return launch_items<kVector>(shape, f, stream);
    if constexpr (kTiles) {
      int row = 0;
      const uint32_t transposed = find_transposed(shape, row);
      if (transposed != 0) return launch_tiled(shape, row, transposed, f, stream);
    }
    launch_items<1>(shape, f, stream);
  });
}

}  // namespace epi::cuda
