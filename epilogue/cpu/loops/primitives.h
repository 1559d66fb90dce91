// SPDX-License-Identifier: Apache-2.0
// The primitives of pointwise/functions.h for float and double, in one namespace per instruction
// set: loops over them vectorize, and instruction sets share no symbols.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#define EPI_INLINE [[gnu::always_inline]] inline
#define EPI_FN EPI_INLINE

namespace epi::cpu::EPI_ISA {

template <typename V>
using Bits = std::conditional_t<sizeof(V) == 4, uint32_t, uint64_t>;

template <typename T>
EPI_INLINE T select(bool mask, T a, T b) {
  return mask ? a : b;
}

// Compiles to a single operation if the instruction set has one (-ffp-contract=fast).
template <typename T>
EPI_INLINE T fma(T a, T b, T c) {
  return a * b + c;
}

template <typename T>
EPI_INLINE bool is_nan(T x) {
  return x != x;
}

template <typename T>
EPI_INLINE T min(T a, T b) {
  return a < b || is_nan(a) ? a : b;
}
template <typename T>
EPI_INLINE T max(T a, T b) {
  return b < a || is_nan(a) ? a : b;
}

EPI_INLINE float abs(float x) { return __builtin_fabsf(x); }
EPI_INLINE double abs(double x) { return __builtin_fabs(x); }

EPI_INLINE float copysign(float x, float sign) { return __builtin_copysignf(x, sign); }
EPI_INLINE double copysign(double x, double sign) { return __builtin_copysign(x, sign); }
EPI_INLINE float sqrt(float x) { return __builtin_sqrtf(x); }
EPI_INLINE double sqrt(double x) { return __builtin_sqrt(x); }

template <typename T>
EPI_INLINE Bits<T> to_bits(T x) {
  return std::bit_cast<Bits<T>>(x);
}
template <typename T>
EPI_INLINE T from_bits(Bits<T> bits) {
  return std::bit_cast<T>(bits);
}
// sin, cos and pow of f32 compute in double. Those of double are the C library's, one by one.
template <typename V>
using Wide = double;
EPI_INLINE double widened(float x) { return static_cast<double>(x); }
template <typename V>
EPI_INLINE V narrowed(double x) {
  return static_cast<V>(x);
}
EPI_INLINE double sin(double x) { return __builtin_sin(x); }
EPI_INLINE double cos(double x) { return __builtin_cos(x); }
EPI_INLINE double pow(double x, double y) { return __builtin_pow(x, y); }

template <typename B>
EPI_INLINE B shift_left(B bits, int count) {
  return bits << count;
}
template <typename B>
EPI_INLINE B shift_right(B bits, int count) {
  return static_cast<B>(static_cast<std::make_signed_t<B>>(bits) >> count);
}
template <typename T>
EPI_INLINE T to_number(Bits<T> bits) {
  return static_cast<T>(static_cast<std::make_signed_t<Bits<T>>>(bits));
}

// Each include uses the ones before it.
// clang-format off
#include "epilogue/pointwise/polynomials.h"
EPI_INLINE float pow(float x, float y) { return power(x, y); }
#include "epilogue/pointwise/wrapping_int.h"
#include "epilogue/pointwise/functions.h"
// clang-format on

}  // namespace epi::cpu::EPI_ISA
