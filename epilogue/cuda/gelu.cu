// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/pointwise.cuh"

namespace epi::cuda {

// x times the normal distribution's cumulative function, which keeps its digits in the tails.
template <typename T>
struct Gelu {
  static constexpr int kInputs = 1;
  using In = T;
  using Out = T;
  __device__ __forceinline__ T operator()(Compute<T> x) const {
    return rounded<T>(x * ::normcdf(x));
  }
};

// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3) is x sigmoid(2u): one exp, and no
// cancellation where tanh(u) is near -1.
template <typename T>
struct GeluTanh {
  static constexpr int kInputs = 1;
  using In = T;
  using Out = T;
  __device__ __forceinline__ T operator()(Compute<T> x) const {
    using C = Compute<T>;
    const C two_u = C(1.5957691216057308) * (x + C(0.044715) * (x * x * x));
    return rounded<T>(x / (C(1) + ::exp(-two_u)));
  }
};

void launch_gelu(DType dtype, const StridedShape& shape, cudaStream_t stream) {
  visit_floating(dtype, [&](auto type) {
    launch_pointwise(shape, Gelu<typename decltype(type)::type>{}, stream);
  });
}

void launch_gelu_tanh(DType dtype, const StridedShape& shape, cudaStream_t stream) {
  visit_floating(dtype, [&](auto type) {
    launch_pointwise(shape, GeluTanh<typename decltype(type)::type>{}, stream);
  });
}

}  // namespace epi::cuda
