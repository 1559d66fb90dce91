// SPDX-License-Identifier: Apache-2.0
// The primitives of pointwise/functions.h for float in generated kernels, and the functions.
#pragma once

namespace epi::device {

// Static: NVRTC drops functions that a kernel does not call, such as erf, at no cost.
#define EPI_FN [[maybe_unused]] static __device__ __forceinline__

EPI_FN float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// exp with the special function unit, corrected for the rounding of its argument: 2 ulp. NaN
// propagates. x is clamped to 88, just below overflow: 1 / (1 + exp) is 0 there.
EPI_FN float exponential(float x) {
  float bounded, y;
  asm("min.NaN.f32 %0, %1, 0f42B00000;" : "=f"(bounded) : "f"(x));
  asm("max.NaN.f32 %0, %1, 0fC2D00000;"  // -104: exp is 0 below
      : "=f"(bounded)
      : "f"(bounded));
  const float power = bounded * 1.4426950408889634f;
  const float rest = ::fmaf(bounded, 1.4426950408889634f, -power);
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(power));
  return ::fmaf(y, rest * 0.6931471805599453f, y);
}

EPI_FN float select(bool mask, float a, float b) { return mask ? a : b; }
EPI_FN float fma(float a, float b, float c) { return ::fmaf(a, b, c); }
EPI_FN float min(float a, float b) {
  float y;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
EPI_FN float max(float a, float b) {
  float y;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
  return y;
}
EPI_FN float abs(float x) { return ::fabsf(x); }
EPI_FN float exp(float x) { return ::expf(x); }
EPI_FN float log(float x) { return ::logf(x); }
EPI_FN float log1p(float x) { return ::log1pf(x); }
EPI_FN float tanh(float x) { return ::tanhf(x); }
EPI_FN float erf(float x) { return ::erff(x); }
EPI_FN float rsqrt(float x) { return ::rsqrtf(x); }
EPI_FN float sin(float x) { return ::sinf(x); }
EPI_FN float cos(float x) { return ::cosf(x); }
EPI_FN float pow(float x, float y) { return y == 2.0f ? x * x : ::powf(x, y); }
EPI_FN float normal_cdf(float x) { return ::normcdff(x); }
EPI_FN float over_one_plus_exp(float x, float u) { return x * reciprocal(1.0f + exponential(u)); }

#include "epilogue/pointwise/functions.h"

}  // namespace epi::device
