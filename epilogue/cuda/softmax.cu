// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/rows.cuh"

namespace epi::cuda {

// With kSafe, a row in which every element is -inf gives 0 instead of NaN.
template <bool kSafe, typename R>
__device__ void run_softmax(R& row) {
  using C = typename R::C;
  C largest = -INFINITY;
  row.read([&](C value) { largest = LargerOf()(largest, value); });
  largest = reduce_threads(largest, LargerOf());
  C total = 0;
  row.reread([&](C value) { total += ::exp(value - largest); });
  total = reduce_threads(total, SumOf());
  const bool is_masked = kSafe && largest == C(-INFINITY);
  // Recomputes exp instead of using a second buffer, because the kernel is memory-bound.
  row.write({}, [&](C value, C, C) { return is_masked ? C(0) : ::exp(value - largest) / total; });
}

// These structs name the operators in traces.
struct Softmax {
  template <typename R>
  static __device__ void run(R& row, const NormParameters& /*none*/) {
    run_softmax<false>(row);
  }
};
struct SafeSoftmax {
  template <typename R>
  static __device__ void run(R& row, const NormParameters& /*none*/) {
    run_softmax<true>(row);
  }
};
struct CausalSoftmax;

// Row i of each matrix of `period` rows reads its columns up to i and sets the others to 0.
template <typename Op, typename T>
__global__ void __launch_bounds__(kMaxThreads)
    causal_rows(const __grid_constant__ Walk walk, int64_t count, RowStrides strides,
                Divisor period) {
  const uint32_t index = blockIdx.x * blockDim.y + threadIdx.y;
  // Whole warps return. Blocks that call __syncthreads process one row and never return here.
  if (index >= walk.items) return;
  int64_t offsets[2];
  offsets_of(walk, index, offsets);
  const int64_t place = index - divide(index, period) * period.value;
  const int64_t kept = place + 1 < count ? place + 1 : count;
  T* out = reinterpret_cast<T*>(walk.data[0]) + offsets[0];
  Row<T, false, 1> row(reinterpret_cast<const T*>(walk.data[1]) + offsets[1], out, kept,
                       strides.values, nullptr);
  run_softmax<false>(row);
  for (int64_t i = kept + threadIdx.x; i < count; i += blockDim.x) {
    out[i * strides.values[0]] = rounded<T>(Compute<T>(0));
  }
}

void launch_causal_softmax(DType dtype, const RowShape& rows, int64_t period, cudaStream_t stream) {
  const Walk walk = make_walk(rows.rows, 1);
  const bool is_short = rows.count <= kWarpRow;
  const dim3 threads = is_short ? dim3(kWarp, kRowsPerBlock) : dim3(256);
  const uint32_t blocks = (walk.items + threads.y - 1) / threads.y;
  const RowStrides strides{{rows.strides[0], rows.strides[1]}};
  visit_floating(dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    causal_rows<CausalSoftmax, T><<<blocks, threads, 0, stream>>>(
        walk, rows.count, strides, Divisor(static_cast<uint32_t>(period)));
  });
}

void launch_safe_softmax(DType dtype, const RowShape& rows, cudaStream_t stream) {
  launch_rows<SafeSoftmax>(dtype, rows, {}, stream);
}

void launch_softmax(DType dtype, const RowShape& rows, cudaStream_t stream) {
  launch_rows<Softmax>(dtype, rows, {}, stream);
}

}  // namespace epi::cuda
