// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/pointwise.cuh"

namespace epi::cuda {

template <typename T>
struct Sigmoid {
  static constexpr int kInputs = 1;
  using In = T;
  using Out = T;
  __device__ __forceinline__ T operator()(Compute<T> x) const {
    return rounded<T>(Compute<T>(1) / (Compute<T>(1) + ::exp(-x)));
  }
};

void launch_sigmoid(DType dtype, const StridedShape& shape, cudaStream_t stream) {
  visit_floating(dtype, [&](auto type) {
    launch_pointwise(shape, Sigmoid<typename decltype(type)::type>{}, stream);
  });
}

}  // namespace epi::cuda
