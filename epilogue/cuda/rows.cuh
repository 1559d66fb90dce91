// SPDX-License-Identifier: Apache-2.0
// Operators on whole rows. A row that fits into shared memory is read from global memory once. A
// longer row is read again in each pass, mostly from the L2 cache. Short rows take one warp each,
// long rows one block. An operator is a struct with `run(row, parameters)`.
#pragma once

#include "epilogue/cuda/element.cuh"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/walk.cuh"

namespace epi::cuda {

constexpr int kWarp = 32;
constexpr int kMaxThreads = 1024;
constexpr int64_t kWarpRow = 1024;  // longest row for one warp: 32 elements per lane
// The shared memory of a block without opting in to more, minus what reduce_threads uses.
constexpr int64_t kCacheBytes = (48 << 10) - 1024;
constexpr int kRowsPerBlock = 8;  // for short rows

struct LargerOf {
  template <typename C>
  __device__ __forceinline__ C operator()(C a, C b) const {
    return a > b || a != a ? a : b;  // NaN wins
  }
};
struct SumOf {
  template <typename C>
  __device__ __forceinline__ C operator()(C a, C b) const {
    return a + b;
  }
};

// Combines the values of all threads of a row (a warp or a whole block). Every thread gets the
// result.
template <typename C, typename Combine>
__device__ __forceinline__ C reduce_threads(C value, Combine combine) {
#pragma unroll
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(~0U, value, distance));
  }
  if (blockDim.x == kWarp) return value;
  __shared__ C warps[kWarp];
  const int warp = threadIdx.x / kWarp;
  __syncthreads();  // the previous call has finished reading `warps`
  if (threadIdx.x % kWarp == 0) warps[warp] = value;
  __syncthreads();
  value = warps[0];
  for (int i = 1; i < static_cast<int>(blockDim.x) / kWarp; ++i) value = combine(value, warps[i]);
  return value;
}

// One row, processed by its threads in several passes. Each thread visits the same elements in
// every pass.
template <typename T, bool kCached, int kVector>
class Row {
 public:
  using C = Compute<T>;

  __device__ Row(const T* x, T* out, int64_t count, const int64_t (&strides)[2], C* cache)
      : x_(x),
        out_(out),
        count_(count),
        out_stride_(strides[0]),
        x_stride_(strides[1]),
        cache_(cache) {}

  __device__ int64_t count() const { return count_; }

  // The first pass. Calls visit(value) for each element.
  template <typename Visit>
  __device__ __forceinline__ void read(Visit&& visit) {
    for_packs([&](int64_t i) {
      const Pack<T, kVector> pack = from_memory(i);
#pragma unroll
      for (int k = 0; k < kVector; ++k) {
        const C value = load(pack.values[k]);
        if (kCached) cache_[i + k] = value;
        visit(value);
      }
    });
  }

  // A later pass. Calls visit(value) for each element.
  template <typename Visit>
  __device__ __forceinline__ void reread(Visit&& visit) const {
    for_packs([&](int64_t i) {
      C values[kVector];
      read_back(i, values);
#pragma unroll
      for (int k = 0; k < kVector; ++k) visit(values[k]);
    });
  }

  // The last pass: out = map(value, weight, bias). A missing weight is 1 and a missing bias is 0.
  template <typename Map>
  __device__ __forceinline__ void write(const NormParameters& parameters, Map&& map) const {
    const T* weight = static_cast<const T*>(parameters.weight);
    const T* bias = static_cast<const T*>(parameters.bias);
    for_packs([&](int64_t i) {
      C values[kVector];
      read_back(i, values);
      Pack<T, kVector> w;
      Pack<T, kVector> b;
      if (weight != nullptr) w = *reinterpret_cast<const Pack<T, kVector>*>(weight + i);
      if (bias != nullptr) b = *reinterpret_cast<const Pack<T, kVector>*>(bias + i);
      Pack<T, kVector> result;
#pragma unroll
      for (int k = 0; k < kVector; ++k) {
        result.values[k] = rounded<T>(map(values[k], weight != nullptr ? load(w.values[k]) : C(1),
                                          bias != nullptr ? load(b.values[k]) : C(0)));
      }
      *reinterpret_cast<Pack<T, kVector>*>(out_ + i * out_stride_) = result;
    });
  }

 private:
  template <typename Body>
  __device__ __forceinline__ void for_packs(Body&& body) const {
    for (int64_t i = threadIdx.x * kVector; i < count_; i += blockDim.x * kVector) body(i);
  }
  __device__ __forceinline__ Pack<T, kVector> from_memory(int64_t i) const {
    return *reinterpret_cast<const Pack<T, kVector>*>(x_ + i * x_stride_);
  }
  __device__ __forceinline__ void read_back(int64_t i, C (&values)[kVector]) const {
    Pack<T, kVector> pack;
    if (!kCached) pack = from_memory(i);
#pragma unroll
    for (int k = 0; k < kVector; ++k) values[k] = kCached ? cache_[i + k] : load(pack.values[k]);
  }

  const T* x_;
  T* out_;
  int64_t count_;
  int64_t out_stride_;
  int64_t x_stride_;
  C* cache_;
};

struct RowStrides {
  int64_t values[2];
};

template <typename Op, typename T, bool kCached, int kVector>
__global__ void __launch_bounds__(kMaxThreads)
    rows(const __grid_constant__ Walk walk, int64_t count, RowStrides strides,
         NormParameters parameters) {
  extern __shared__ char shared[];
  const uint32_t index = blockIdx.x * blockDim.y + threadIdx.y;
  // Whole warps return. Blocks that call __syncthreads process one row and never return here.
  if (index >= walk.items) return;
  int64_t offsets[2];
  offsets_of(walk, index, offsets);
  auto* cache = reinterpret_cast<Compute<T>*>(shared) + threadIdx.y * count;
  Row<T, kCached, kVector> row(reinterpret_cast<const T*>(walk.data[1]) + offsets[1],
                               reinterpret_cast<T*>(walk.data[0]) + offsets[0], count,
                               strides.values, cache);
  Op::run(row, parameters);
}

// Whether input, output and parameters allow vectors of kVector elements.
template <typename T, int kVector>
bool rows_take_vectors(const RowShape& shape, const NormParameters& parameters) {
  const auto aligned = [](const void* data) {
    return reinterpret_cast<uintptr_t>(data) % (sizeof(T) * kVector) == 0;
  };
  bool fits = shape.strides[0] == 1 && shape.strides[1] == 1 && shape.count % kVector == 0 &&
              aligned(parameters.weight) && aligned(parameters.bias);
  for (int i = 0; i < 2; ++i) {
    fits = fits && aligned(shape.rows.data[i]);
    for (int d = 0; d < shape.rows.rank; ++d)
      fits = fits && shape.rows.strides[i][d] % kVector == 0;
  }
  return fits;
}

template <typename Op, typename T, int kVector>
void launch_rows_in(const RowShape& shape, const NormParameters& parameters, cudaStream_t stream) {
  const Walk walk = make_walk(shape.rows, 1);
  const bool is_short = shape.count <= kWarpRow;
  const dim3 threads =
      is_short ? dim3(kWarp, kRowsPerBlock) : dim3(shape.count <= 8192 ? 256 : kMaxThreads);
  const uint32_t blocks = (walk.items + threads.y - 1) / threads.y;
  const auto bytes = static_cast<size_t>(shape.count) * sizeof(Compute<T>) * threads.y;
  const RowStrides strides{{shape.strides[0], shape.strides[1]}};
  if (bytes <= kCacheBytes) {
    rows<Op, T, true, kVector>
        <<<blocks, threads, bytes, stream>>>(walk, shape.count, strides, parameters);
  } else {
    rows<Op, T, false, kVector>
        <<<blocks, threads, 0, stream>>>(walk, shape.count, strides, parameters);
  }
}

template <typename Op>
void launch_rows(DType dtype, const RowShape& shape, const NormParameters& parameters,
                 cudaStream_t stream) {
  visit_floating(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int kVector = 16 / sizeof(T);
    if (rows_take_vectors<T, kVector>(shape, parameters)) {
      launch_rows_in<Op, T, kVector>(shape, parameters, stream);
    } else {
      launch_rows_in<Op, T, 1>(shape, parameters, stream);
    }
  });
}

}  // namespace epi::cuda
