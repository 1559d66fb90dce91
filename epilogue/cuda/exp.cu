// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/pointwise.cuh"

namespace epi::cuda {

template <typename T>
struct Exp {
  static constexpr int kInputs = 1;
  using In = T;
  using Out = T;
  __device__ __forceinline__ T operator()(Compute<T> x) const { return rounded<T>(::exp(x)); }
};

void launch_exp(DType dtype, const StridedShape& shape, cudaStream_t stream) {
  visit_floating(dtype, [&](auto type) {
    launch_pointwise(shape, Exp<typename decltype(type)::type>{}, stream);
  });
}

}  // namespace epi::cuda
