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

__device__ __forceinline__ float exp2_approximate(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3) is x sigmoid(2u): one exp, and no
// cancellation where tanh(u) is near -1.
template <typename T>
struct GeluTanh {
  static constexpr int kInputs = 1;
  using In = T;
  using Out = T;
  __device__ __forceinline__ T operator()(Compute<T> x) const {
    using C = Compute<T>;
    if constexpr (kIsHalf<T>) {
      // By the special-function unit: 2^-22 of the exponent's size is far below the rounding to 16
      // bits, and what costs 35 us exactly takes the time of a copy, 27 (25 M bf16, H200).
      constexpr float kLog2e = 1.4426950408889634F;
      const float power = -kLog2e * 1.5957691216057308F * x * fmaf(0.044715F * x, x, 1.0F);
      return rounded<T>(__fdividef(x, 1.0F + exp2_approximate(power)));
    } else {
      const C two_u = C(1.5957691216057308) * (x + C(0.044715) * (x * x * x));
      return rounded<T>(x / (C(1) + ::exp(-two_u)));
    }
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
