// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/reduce.cuh"

namespace epi::cuda {

template <typename T>
struct Mean {
  using In = T;
  using Acc = double;
  using Out = T;
  static __device__ __forceinline__ Acc start() { return 0; }
  static __device__ __forceinline__ Acc combine(Acc a, Acc b) { return a + b; }
  static __device__ __forceinline__ Out finish(Acc value, int64_t terms) {
    return rounded<Out>(static_cast<Compute<Out>>(value / static_cast<double>(terms)));
  }
};

void launch_mean(DType dtype, const ReductionShape& shape, cudaStream_t stream) {
  visit_floating(dtype, [&](auto type) {
    launch_reduction<Mean<typename decltype(type)::type>>(shape, stream);
  });
}

}  // namespace epi::cuda
