// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/pointwise.cuh"

namespace epi::cuda {

// NaN stays.
template <typename T>
struct Relu {
  static constexpr int kInputs = 1;
  using In = T;
  using Out = T;
  __device__ __forceinline__ T operator()(Compute<T> x) const {
    return rounded<T>(x < Compute<T>(0) ? Compute<T>(0) : x);
  }
};

void launch_relu(DType dtype, const StridedShape& shape, cudaStream_t stream) {
  visit_numeric(dtype, [&](auto type) {
    launch_pointwise(shape, Relu<typename decltype(type)::type>{}, stream);
  });
}

}  // namespace epi::cuda
