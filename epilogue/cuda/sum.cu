// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/reduce.cuh"

namespace epi::cuda {

// Integers and bool are summed in 64 bits with wraparound.
template <typename T>
struct Sum {
  using In = T;
  using Acc = std::conditional_t<kIsReal<T>, double, uint64_t>;
  using Out = std::conditional_t<kIsReal<T>, T, int64_t>;
  static __device__ __forceinline__ Acc start() { return 0; }
  static __device__ __forceinline__ Acc combine(Acc a, Acc b) { return a + b; }
  static __device__ __forceinline__ Out finish(Acc value, int64_t /*terms*/) {
    return rounded<Out>(static_cast<Compute<Out>>(value));
  }
};

void launch_sum(DType dtype, const ReductionShape& shape, cudaStream_t stream) {
  visit_all(dtype, [&](auto type) {
    launch_reduction<Sum<typename decltype(type)::type>>(shape, stream);
  });
}

}  // namespace epi::cuda
