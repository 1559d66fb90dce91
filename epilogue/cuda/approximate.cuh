// SPDX-License-Identifier: Apache-2.0
// A number type for pointwise/functions.h with 16-bit results, which computes exp and division on
// the special-function unit. Its error, 2^-22 of the size of the exponent, is far below the
// rounding error of the results. GELU over 25 M bf16 takes 27 us on an H200, as long as a copy,
// instead of 35 us.
#pragma once

#include "epilogue/cuda/primitives.cuh"

namespace epi::cuda {

struct Approximate {
  float value;
  __device__ __forceinline__ explicit Approximate(double number)
      : value(static_cast<float>(number)) {}
  __device__ __forceinline__ explicit Approximate(float number) : value(number) {}
};
__device__ __forceinline__ Approximate operator-(Approximate x) { return Approximate(-x.value); }
__device__ __forceinline__ Approximate operator*(Approximate x, Approximate y) {
  return Approximate(x.value * y.value);
}
__device__ __forceinline__ Approximate fma(Approximate x, Approximate y, Approximate z) {
  return Approximate(fma(x.value, y.value, z.value));
}
__device__ __forceinline__ Approximate over_one_plus_exp(Approximate x, Approximate u) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(1.4426950408889634F * u.value));
  return Approximate(__fdividef(x.value, 1.0F + power));
}

}  // namespace epi::cuda
