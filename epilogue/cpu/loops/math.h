// SPDX-License-Identifier: Apache-2.0
// exp, tanh and erfc as polynomials, branch-free so that loops over them vectorise. Coefficients
// are Chebyshev fits. Largest errors over [-100, 100] (tests/ops/pointwise_sweep_test.cpp): f32 exp
// 1 ulp, tanh, sigmoid and silu 3 ulp; f64 1 and 3 ulp; gelu 3 ulp of x in f32, 16 in f64.
#pragma once

#include <bit>
#include <cstdint>

namespace epi::cpu::EPI_ISA {

#define EPI_INLINE [[gnu::always_inline]] inline

template <typename T, int N>
EPI_INLINE T polynomial(const T (&coefficients)[N], T x) {
  T sum = coefficients[0];
  for (int i = 1; i < N; ++i) sum = sum * x + coefficients[i];
  return sum;
}

template <typename T>
struct Exp;

template <>
struct Exp<float> {
  using Bits = uint32_t;
  using Int = int32_t;
  static constexpr int kMantissa = 23;
  static constexpr Bits kBias = 127;
  static constexpr float kShift = 0x1.8p23F;  // adding it rounds to an integer, in the low bits
  static constexpr float kLow = -104.0F;      // exp is 0 below
  static constexpr float kHigh = 89.0F;       // and infinite above
  static constexpr float kLn2High = 0x1.62E4p-1F;  // 15 bits: n times it is exact
  static constexpr float kLn2Low = 1.428606820e-06F;
  // expm1(r) / r for |r| <= ln(2) / 2, error 2.6e-10
  static constexpr float kTerms[] = {0.0001990044147F,
                                     0.001394215983F,
                                     0.008333297067F,
                                     0.04166634014F,
                                     0.1666666672F,
                                     0.500000005F,
                                     1.0F};
};

template <>
struct Exp<double> {
  using Bits = uint64_t;
  using Int = int64_t;
  static constexpr int kMantissa = 52;
  static constexpr Bits kBias = 1023;
  static constexpr double kShift = 0x1.8p52;
  static constexpr double kLow = -746.0;
  static constexpr double kHigh = 710.0;
  static constexpr double kLn2High = 0x1.62E42FEFA0000p-1;  // 33 bits
  static constexpr double kLn2Low = 1.6465949582897082e-12;
  // the same, error 2.7e-19
  static constexpr double kTerms[] = {2.091896183779577806e-9,
                                      2.511120325747113869e-8,
                                      2.755726102934376868e-7,
                                      2.755723773674059993e-6,
                                      0.00002480158733856534555,
                                      0.0001984126989304954516,
                                      0.001388888888887826895,
                                      0.008333333333318462265,
                                      0.04166666666666667782,
                                      0.1666666666666668229,
                                      0.5,
                                      1.0};
};

// x = n ln 2 + r.
template <typename T>
struct Reduced {
  typename Exp<T>::Int n;
  T r;
};

template <typename T>
EPI_INLINE Reduced<T> reduce(T x) {
  using E = Exp<T>;
  const T shifted = x * T(1.4426950408889634) + E::kShift;
  const T n = shifted - E::kShift;
  // In bits, and unsigned: for NaN this is any number, and no undefined behaviour.
  const auto bits =
      std::bit_cast<typename E::Bits>(shifted) - std::bit_cast<typename E::Bits>(E::kShift);
  return {static_cast<typename E::Int>(bits), (x - n * E::kLn2High) - n * E::kLn2Low};
}

// 2^n in the range of normal numbers.
template <typename T>
EPI_INLINE T power_of_two(typename Exp<T>::Int n) {
  using Bits = typename Exp<T>::Bits;
  return std::bit_cast<T>((static_cast<Bits>(n) + Exp<T>::kBias) << Exp<T>::kMantissa);
}

// NaN stays NaN: the comparisons are false for it.
template <typename T>
EPI_INLINE T clamp(T x, T low, T high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}

template <typename T>
EPI_INLINE T exp(T x) {
  using E = Exp<T>;
  const auto [n, r] = reduce(clamp(x, E::kLow, E::kHigh));
  const T mantissa = T(1) + r * polynomial(E::kTerms, r);
  // In two steps, because n passes the range of normal numbers at both ends.
  const auto half = n >> 1;
  return mantissa * power_of_two<T>(half) * power_of_two<T>(n - half);
}

// exp(x) - 1 for x in [kLow, 0], without cancellation near 0.
template <typename T>
EPI_INLINE T expm1_negative(T x) {
  const auto [n, r] = reduce(x);
  const T scale = power_of_two<T>(n);
  return scale * (r * polynomial(Exp<T>::kTerms, r)) + (scale - T(1));
}

template <typename T>
EPI_INLINE T tanh(T x) {
  const T magnitude = x < T(0) ? -x : x;
  // Past 20 the result is 1 in both types; the clamp keeps 2^n normal.
  const T e = expm1_negative(clamp(T(-2) * magnitude, T(-40), T(0)));
  const T value = e / (T(2) + e);
  if constexpr (sizeof(T) == 4) {
    return __builtin_copysignf(value, x);
  } else {
    return __builtin_copysign(value, x);
  }
}

template <typename T>
EPI_INLINE T sigmoid(T x) {
  return T(1) / (T(1) + exp(-x));
}

// erfc(z) = exp(-z^2) t Q(t) for z >= 0, with t = 1 / (1 + z / 2).
template <typename T>
struct Erfc;
template <>
struct Erfc<float> {  // error 2.2e-9
  static constexpr float kTerms[] = {0.03239865218F, -0.1716289015F,  0.332568661F,
                                     -0.2189932848F, -0.08664944204F, 0.07456794739F,
                                     0.03905751788F, 0.1897954688F,   0.2444791095F,
                                     0.2823184277F,  0.2820858459F};
};
template <>
struct Erfc<double> {  // error 7.5e-17; rounding makes it 1e-15
  static constexpr double kTerms[] = {
      0.01999430294006659628, -0.2260728250293760224, 1.151114371447576095,
      -3.414799989005759602,  6.229790152075385657,   -6.104419990280525034,
      -0.8503153356911346895, 13.51585536526077479,   -24.4043442512718302,
      26.39302238293525984,   -19.89605677167382077,  11.1547121794202252,
      -4.962460018086699477,  1.781819366942318488,   -0.4305762732783500435,
      0.102651948600181636,   -0.0721687283495169015, -0.05416133239922824434,
      -0.0046842354072499982, 0.08376916044345450065, 0.1763079434432365622,
      0.2468329946583587753,  0.2820947905189102623,  0.2820947917877426304};
};

// The normal distribution's cumulative function, (1 + erf(x / sqrt(2))) / 2: small tails keep their
// relative precision, because erfc is computed directly.
template <typename T>
EPI_INLINE T normal_cdf(T x) {
  const T magnitude = x < T(0) ? -x : x;
  const T t = T(1) / (T(1) + magnitude * T(0.35355339059327379));
  const T tail = T(0.5) * exp(T(-0.5) * x * x) * (t * polynomial(Erfc<T>::kTerms, t));
  return x < T(0) ? tail : T(1) - tail;
}

}  // namespace epi::cpu::EPI_ISA
