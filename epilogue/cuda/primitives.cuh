// SPDX-License-Identifier: Apache-2.0
// The primitives of pointwise/functions.h for eager CUDA kernels, implemented with CUDA's math
// functions, and the functions built on them.
#pragma once

#include <cstdint>

namespace epi::cuda {

#define EPI_FN __device__ __forceinline__

template <typename T>
EPI_FN T select(bool mask, T a, T b) {
  return mask ? a : b;
}
EPI_FN float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
EPI_FN double fma(double a, double b, double c) { return ::fma(a, b, c); }
template <typename T>
EPI_FN T min(T a, T b) {
  return a < b || a != a ? a : b;
}
template <typename T>
EPI_FN T max(T a, T b) {
  return b < a || a != a ? a : b;
}
EPI_FN float abs(float x) { return ::fabsf(x); }
EPI_FN double abs(double x) { return ::fabs(x); }
EPI_FN float exp(float x) { return ::expf(x); }
EPI_FN double exp(double x) { return ::exp(x); }
EPI_FN float log(float x) { return ::logf(x); }
EPI_FN double log(double x) { return ::log(x); }
EPI_FN float log1p(float x) { return ::log1pf(x); }
EPI_FN double log1p(double x) { return ::log1p(x); }
EPI_FN float tanh(float x) { return ::tanhf(x); }
EPI_FN double tanh(double x) { return ::tanh(x); }
EPI_FN float erf(float x) { return ::erff(x); }
EPI_FN double erf(double x) { return ::erf(x); }
EPI_FN float rsqrt(float x) { return ::rsqrtf(x); }
EPI_FN double rsqrt(double x) { return ::rsqrt(x); }
EPI_FN float sin(float x) { return ::sinf(x); }
EPI_FN double sin(double x) { return ::sin(x); }
EPI_FN float cos(float x) { return ::cosf(x); }
EPI_FN double cos(double x) { return ::cos(x); }
EPI_FN float pow(float x, float y) { return y == 2 ? x * x : ::powf(x, y); }
EPI_FN double pow(double x, double y) { return y == 2 ? x * x : ::pow(x, y); }
EPI_FN float normal_cdf(float x) { return ::normcdff(x); }
EPI_FN double normal_cdf(double x) { return ::normcdf(x); }
template <typename T>
EPI_FN T over_one_plus_exp(T x, T u) {
  return x / (T(1) + exp(u));
}

// These headers use the functions above, in this order.
// clang-format off
#include "epilogue/pointwise/wrapping_int.h"
#include "epilogue/pointwise/functions.h"
// clang-format on

#undef EPI_FN

}  // namespace epi::cuda
