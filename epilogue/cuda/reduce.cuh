// SPDX-License-Identifier: Apache-2.0
// sum, mean and amax over any dimensions. Floating-point values are summed in f64, as on the CPU;
// the loads hide the cost of the conversion. Adjacent threads read adjacent memory: terms of one
// output, or terms of adjacent outputs. An operator is a struct with `In`, `Acc`, `Out`, `start`,
// `combine` and `finish`.
#pragma once

#include "epilogue/cuda/element.cuh"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/walk.cuh"

namespace epi::cuda {

constexpr int kReduceThreads = 256;
constexpr int kReduceWarp = 32;

// Converts a linear index to an offset, with 64-bit divisions if there are 2^31 or more elements.
struct Offsets {
  int rank = 0;
  bool wide = false;
  int64_t count = 1;
  Divisor shape[kMaxDims];
  int64_t strides[kMaxDims] = {};

  Offsets() = default;
  explicit Offsets(const ReductionDims& dims)
      : rank(dims.rank), wide(dims.count >= int64_t{1} << 31), count(dims.count) {
    for (int d = 0; d < rank; ++d) {
      if (d > 0) shape[d] = Divisor(static_cast<uint32_t>(dims.shape[d]));
      strides[d] = dims.strides[d];
    }
  }

  __device__ __forceinline__ int64_t at(int64_t index) const {
    int64_t offset = 0;
#pragma unroll
    for (int d = kMaxDims - 1; d > 0; --d) {
      if (d >= rank) continue;
      const int64_t quotient =
          wide ? index / shape[d].value : divide(static_cast<uint32_t>(index), shape[d]);
      offset += (index - quotient * shape[d].value) * strides[d];
      index = quotient;
    }
    return rank == 0 ? offset : offset + index * strides[0];
  }
};

// The parameters of reduce_rows and reduce_columns.
template <typename Acc>
struct Reduction {
  const char* x = nullptr;
  char* out = nullptr;
  Acc* partials = nullptr;  // null: results are written to `out`
  Offsets kept;
  Offsets reduced;
  int64_t part = 0;  // terms per split
};

// Writes a result, or the partial result of one split.
template <typename Op>
__device__ __forceinline__ void put(const Reduction<typename Op::Acc>& r, int64_t output,
                                    typename Op::Acc value) {
  if (r.partials != nullptr) {
    r.partials[blockIdx.y * r.kept.count + output] = value;
  } else {
    reinterpret_cast<typename Op::Out*>(r.out)[output] = Op::finish(value, r.reduced.count);
  }
}

// blockDim.x threads share the terms of one output. A block computes blockDim.y outputs.
template <typename Op, int kVector>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_rows(const __grid_constant__ Reduction<typename Op::Acc> r) {
  using T = typename Op::In;
  using Acc = typename Op::Acc;
  const int64_t output = static_cast<int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
  // Whole warps return. Blocks that call __syncthreads compute one output and never return here.
  if (output >= r.kept.count) return;
  const T* x = reinterpret_cast<const T*>(r.x) + r.kept.at(output);
  const int64_t begin = blockIdx.y * r.part;
  const int64_t end = begin + r.part < r.reduced.count ? begin + r.part : r.reduced.count;
  Acc value = Op::start();
  for (int64_t i = begin + threadIdx.x * kVector; i < end; i += blockDim.x * kVector) {
    const auto pack = *reinterpret_cast<const Pack<T, kVector>*>(x + r.reduced.at(i));
#pragma unroll
    for (int k = 0; k < kVector; ++k) {
      value = Op::combine(value, static_cast<Acc>(load(pack.values[k])));
    }
  }
#pragma unroll
  for (int distance = kReduceWarp / 2; distance > 0; distance /= 2) {
    value = Op::combine(value, __shfl_xor_sync(~0U, value, distance));
  }
  if (blockDim.x > kReduceWarp) {
    __shared__ Acc warps[kReduceThreads / kReduceWarp];
    if (threadIdx.x % kReduceWarp == 0) warps[threadIdx.x / kReduceWarp] = value;
    __syncthreads();
    value = warps[0];
    for (int i = 1; i < kReduceThreads / kReduceWarp; ++i) value = Op::combine(value, warps[i]);
  }
  if (threadIdx.x == 0) put<Op>(r, output, value);
}

// A column of threads shares the terms of one output. Adjacent columns are adjacent outputs.
template <typename Op>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_columns(const __grid_constant__ Reduction<typename Op::Acc> r) {
  using Acc = typename Op::Acc;
  constexpr int kRows = kReduceThreads / kReduceWarp;
  __shared__ Acc rows[kRows][kReduceWarp];
  const int64_t output = static_cast<int64_t>(blockIdx.x) * kReduceWarp + threadIdx.x;
  const int64_t begin = blockIdx.y * r.part;
  const int64_t end = begin + r.part < r.reduced.count ? begin + r.part : r.reduced.count;
  Acc value = Op::start();
  if (output < r.kept.count) {
    const auto* x = reinterpret_cast<const typename Op::In*>(r.x) + r.kept.at(output);
    for (int64_t i = begin + threadIdx.y; i < end; i += kRows) {
      value = Op::combine(value, static_cast<Acc>(load(x[r.reduced.at(i)])));
    }
  }
  rows[threadIdx.y][threadIdx.x] = value;
  __syncthreads();
  if (threadIdx.y > 0 || output >= r.kept.count) return;
  for (int i = 1; i < kRows; ++i) value = Op::combine(value, rows[i][threadIdx.x]);
  put<Op>(r, output, value);
}

// Combines the parts of each output, one thread per output.
template <typename Op>
__global__ void __launch_bounds__(kReduceThreads)
    reduce_parts(const typename Op::Acc* partials, int64_t splits, int64_t outputs, int64_t terms,
                 typename Op::Out* out) {
  const int64_t output = static_cast<int64_t>(blockIdx.x) * kReduceThreads + threadIdx.x;
  if (output >= outputs) return;
  auto value = Op::start();
  for (int64_t i = 0; i < splits; ++i) value = Op::combine(value, partials[i * outputs + output]);
  out[output] = Op::finish(value, terms);
}

// Whether the terms are contiguous and can be read in vectors.
inline bool terms_take_vectors(const ReductionShape& shape, int64_t part, int vector, int bytes) {
  bool fits = shape.reduced.rank == 1 && shape.reduced.strides[0] == 1 && part % vector == 0 &&
              shape.reduced.count % vector == 0 &&
              reinterpret_cast<uintptr_t>(shape.x) % static_cast<uintptr_t>(bytes * vector) == 0;
  for (int d = 0; d < shape.kept.rank; ++d) fits = fits && shape.kept.strides[d] % vector == 0;
  return fits;
}

template <typename Op>
void launch_reduction(const ReductionShape& shape, cudaStream_t stream) {
  using Acc = typename Op::Acc;
  using Out = typename Op::Out;
  constexpr int kVector = 16 / sizeof(typename Op::In);
  const int64_t part = ((shape.reduced.count + shape.splits - 1) / shape.splits + 15) / 16 * 16;
  auto* partials = shape.splits == 1 ? nullptr : static_cast<Acc*>(shape.partials);
  const Reduction<Acc> r{shape.x, shape.out, partials, Offsets(shape.kept), Offsets(shape.reduced),
                         part};
  const auto splits = static_cast<unsigned>(shape.splits);
  if (shape.columnwise) {
    const auto blocks = static_cast<unsigned>((r.kept.count + kReduceWarp - 1) / kReduceWarp);
    const dim3 threads(kReduceWarp, kReduceThreads / kReduceWarp);
    reduce_columns<Op><<<dim3(blocks, splits), threads, 0, stream>>>(r);
  } else {
    // One warp per short row, one block per long row.
    const bool is_short = part <= 1024;
    const dim3 threads =
        is_short ? dim3(kReduceWarp, kReduceThreads / kReduceWarp) : dim3(kReduceThreads);
    const dim3 blocks(static_cast<unsigned>((r.kept.count + threads.y - 1) / threads.y), splits);
    if (terms_take_vectors(shape, part, kVector, sizeof(typename Op::In))) {
      reduce_rows<Op, kVector><<<blocks, threads, 0, stream>>>(r);
    } else {
      reduce_rows<Op, 1><<<blocks, threads, 0, stream>>>(r);
    }
  }
  if (partials == nullptr) return;
  const auto blocks = static_cast<unsigned>((r.kept.count + kReduceThreads - 1) / kReduceThreads);
  reduce_parts<Op><<<blocks, kReduceThreads, 0, stream>>>(
      partials, shape.splits, r.kept.count, r.reduced.count, reinterpret_cast<Out*>(shape.out));
}

}  // namespace epi::cuda
