// SPDX-License-Identifier: Apache-2.0
// Two adjacent elements of a row: the number type of the functions in a GEMM's epilogue.
#pragma once

#include "epilogue/compiler/codegen/device/hopper.cuh"
#include "epilogue/compiler/codegen/device/primitives.cuh"
#include "epilogue/compiler/codegen/device/walk.cuh"

namespace epi::device {

struct Pair {
  float a, b;
  __device__ __forceinline__ Pair(float both) : a(both), b(both) {}
  __device__ __forceinline__ Pair(double both) : Pair(static_cast<float>(both)) {}
  __device__ __forceinline__ Pair(int both) : Pair(static_cast<float>(both)) {}
  __device__ __forceinline__ Pair(float first, float second) : a(first), b(second) {}
};
struct PairMask {
  bool a, b;
};
EPI_FN Pair operator+(Pair x, Pair y) { return {x.a + y.a, x.b + y.b}; }
EPI_FN Pair operator-(Pair x, Pair y) { return {x.a - y.a, x.b - y.b}; }
EPI_FN Pair operator*(Pair x, Pair y) { return {x.a * y.a, x.b * y.b}; }
EPI_FN Pair operator/(Pair x, Pair y) { return {x.a / y.a, x.b / y.b}; }
EPI_FN Pair operator-(Pair x) { return {-x.a, -x.b}; }
EPI_FN PairMask operator<(Pair x, Pair y) { return {x.a < y.a, x.b < y.b}; }
EPI_FN Pair select(PairMask mask, Pair x, Pair y) {
  return {select(mask.a, x.a, y.a), select(mask.b, x.b, y.b)};
}
EPI_FN Pair fma(Pair x, Pair y, Pair z) { return {fma(x.a, y.a, z.a), fma(x.b, y.b, z.b)}; }
EPI_FN Pair min(Pair x, Pair y) { return {min(x.a, y.a), min(x.b, y.b)}; }
EPI_FN Pair max(Pair x, Pair y) { return {max(x.a, y.a), max(x.b, y.b)}; }
EPI_FN Pair abs(Pair x) { return {abs(x.a), abs(x.b)}; }
EPI_FN Pair exp(Pair x) { return {exp(x.a), exp(x.b)}; }
EPI_FN Pair log(Pair x) { return {log(x.a), log(x.b)}; }
EPI_FN Pair log1p(Pair x) { return {log1p(x.a), log1p(x.b)}; }
EPI_FN Pair tanh(Pair x) { return {tanh(x.a), tanh(x.b)}; }
EPI_FN Pair erf(Pair x) { return {erf(x.a), erf(x.b)}; }
EPI_FN Pair rsqrt(Pair x) { return {rsqrt(x.a), rsqrt(x.b)}; }
EPI_FN Pair sin(Pair x) { return {sin(x.a), sin(x.b)}; }
EPI_FN Pair cos(Pair x) { return {cos(x.a), cos(x.b)}; }
EPI_FN Pair pow(Pair x, Pair y) { return {pow(x.a, y.a), pow(x.b, y.b)}; }

EPI_FN float power_of_two(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
// 1 + 2^x, accurate to 2^-17. Returns its value at 63 for larger x and for NaN.
EPI_FN float one_plus_exp2(float x) { return 1.0f + power_of_two(fminf(x, 63.0f)); }
// max(x, -10^9). NaN propagates.
EPI_FN float bounded(float x) {
  float y;
  asm("max.NaN.f32 %0, %1, 0fCE6E6B28;" : "=f"(y) : "f"(x));
  return y;
}
// x / (1 + 2^u), with one reciprocal for both: the unit that computes reciprocals and powers is the
// bottleneck of an epilogue. Where the quotient underflows, 2^-63 of the bounded x remains, at most
// 10^-10.
EPI_FN Pair over_one_plus_exp2(Pair x, Pair u) {
  const float a = one_plus_exp2(u.a), b = one_plus_exp2(u.b);
  const float both = reciprocal(a * b);
  return {bounded(x.a) * (both * b), bounded(x.b) * (both * a)};
}
EPI_FN Pair over_one_plus_exp(Pair x, Pair u) {
  return over_one_plus_exp2(x, u * 1.4426950408889634f);
}

// Overloads, which tests/compiler/gpu_epilogue_functions_test.cpp compares with the reference. The
// shared reciprocal loses a NaN that is not in the numerator.
EPI_FN Pair sigmoid(Pair x) {
  const Pair one(x.a == x.a ? 1.0f : x.a, x.b == x.b ? 1.0f : x.b);
  return over_one_plus_exp2(one, x * -1.4426950408889634f);
}
// The definition with its constants multiplied by log2(e), which saves one operation.
EPI_FN Pair gelu_tanh(Pair x) {
  return over_one_plus_exp2(x, x * fma(x * x, Pair(-0.10294324f), Pair(-2.3022082f)));
}
// Activations with one special function per element instead of 1.5, for results in bf16.
// tanh.approx has an absolute error, so the relative one grows where they vanish
// (bench/activation_forms). The structs of epilogues derive from this one, which hides the
// functions above.
struct FastActivations {
  EPI_FN Pair silu(Pair x) { return half_of_one_plus_tanh(x, x * 0.5f); }
  EPI_FN Pair gelu_tanh(Pair x) {
    return half_of_one_plus_tanh(x, x * fma(x * x, Pair(0.035677408f), Pair(0.79788456f)));
  }

 private:
  EPI_FN float tanh_approx(float x) {
    float y;
    asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
  // x (1 + tanh(u)) / 2
  EPI_FN Pair half_of_one_plus_tanh(Pair x, Pair u) {
    const Pair half = x * 0.5f;
    return fma(half, Pair(tanh_approx(u.a), tanh_approx(u.b)), half);
  }
};

// exp(-x^2 / 2) times a polynomial in t = 1 / (1 + 0.3 |x|), which is the best one of its degree by
// relative error: 7.5e-6 up to 13.5, where exp vanishes in f32. One reciprocal for both, as above.
EPI_FN Pair normal_cdf(Pair x) {
  const Pair distance(fminf(abs(x.a), 14.0f), fminf(abs(x.b), 14.0f));
  const Pair divisor = fma(distance, Pair(0.3f), Pair(1.0f));
  const float both = reciprocal(divisor.a * divisor.b);
  const Pair t(both * divisor.b, both * divisor.a);
  Pair sum = fma(t, Pair(-0.07750715604f), Pair(0.2172688734f));
  sum = fma(t, sum, Pair(-0.01835573165f));
  sum = fma(t, sum, Pair(0.1449551594f));
  sum = fma(t, sum, Pair(0.1135503819f));
  sum = fma(t, sum, Pair(0.1200922399f));
  const Pair power = distance * distance * -0.7213475204f;
  const Pair tail = sum * t * Pair(power_of_two(power.a), power_of_two(power.b));
  return select(x < Pair(0.0f), tail, Pair(1.0f) - tail);
}

template <typename T>
EPI_FN Pair rounded_to(Pair x) {
  return {to_float(rounded<T>(x.a)), to_float(rounded<T>(x.b))};
}
// The two elements as they are stored in memory.
template <typename T>
__device__ __forceinline__ u32 packed(Pair x);
template <>
__device__ __forceinline__ u32 packed<bf16>(Pair x) {
  u32 y;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(x.b), "f"(x.a));
  return y;
}
template <>
__device__ __forceinline__ u32 packed<f16>(Pair x) {
  u32 y;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(y) : "f"(x.b), "f"(x.a));
  return y;
}
template <typename T>
EPI_FN float read_one(const char* data, long long at) {
  return to_float(reinterpret_cast<const T*>(data)[at]);
}
// `second` is the offset of the second element: 1, or 0 if it is broadcast.
template <typename T>
EPI_FN Pair read_pair(const char* data, long long at, int second) {
  const T* from = reinterpret_cast<const T*>(data) + at;
  return {to_float(from[0]), to_float(from[second])};
}

}  // namespace epi::device
