// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/reduce.cuh"

namespace epi::cuda {

template <typename T>
struct Max {
  using In = T;
  using Acc = Compute<T>;
  using Out = T;
  static __device__ __forceinline__ Acc start() {
    if constexpr (kIsReal<T>) {
      return -INFINITY;
    } else {
      return Limits<Acc>::kMin;
    }
  }
  static __device__ __forceinline__ Acc combine(Acc a, Acc b) {
    return a > b || a != a ? a : b;  // NaN wins
  }
  static __device__ __forceinline__ Out finish(Acc value, int64_t /*terms*/) {
    return rounded<Out>(value);
  }
};

void launch_amax(DType dtype, const ReductionShape& shape, cudaStream_t stream) {
  visit_numeric(dtype, [&](auto type) {
    launch_reduction<Max<typename decltype(type)::type>>(shape, stream);
  });
}

}  // namespace epi::cuda
