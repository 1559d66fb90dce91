// SPDX-License-Identifier: Apache-2.0
// The only table of tolerances. A result may differ from the float64 reference by
//   half an ulp of its dtype   (the final rounding)
//   + relative * |value| + per_scale * scale * sqrt(terms) + absolute   (error of the computation).
// bf16 and f16 are computed in f32: they use the f32 tolerances plus their own half ulp.
#pragma once

#include <algorithm>
#include <cmath>

#include "epilogue/tensor/dtype.h"

namespace epi {

enum class OpClass {
  kExact,
  kArithmetic,
  kPointwise,
  kGelu,
  kGemm,
  kReduction,
  kAttention,
  kHopperEpilogue,
  kFastActivation,
};

struct Tolerance {
  double relative = 0;
  double per_scale = 0;  // times the scale of the reference, see RefTensor
  double absolute = 0;
};

inline double half_ulp_of_one(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return 0x1p-53;
    case DType::kBF16:
      return 0x1p-8;
    case DType::kF16:
      return 0x1p-11;
    default:
      return 0x1p-24;
  }
}

inline Tolerance tolerance(DType dtype, OpClass op_class) {
  const bool wide = dtype == DType::kF64;
  const double u = wide ? 0x1p-53 : 0x1p-24;  // half an ulp of 1 in the dtype of the arithmetic
  const double polynomial = wide ? 16 * u : 8 * u;
  const double vanishing = wide ? 0x1p-1015 : 0x1p-119;
  switch (op_class) {
    // Copies, views, maxima: no arithmetic, no error.
    case OpClass::kExact:
      return {};
    // + - * /: one correctly rounded operation. The 16-bit dtypes round its f32 result a second
    // time (relative u), and x + alpha * y may round alpha * y first (u of its magnitude).
    case OpClass::kArithmetic:
      return {u, u, 0};
    // exp and functions built on it: the polynomials are accurate to 4 ulp in f32 and 8 ulp in f64
    // (2e-15). Below 128 times the smallest normal number a result may become zero: silu(-89) is
    // -89 times a subnormal.
    case OpClass::kPointwise:
      return {polynomial, 0, vanishing};
    // As kPointwise, plus x times the error of 1 + erf or 1 + tanh, which cancel for x below -1: 2
    // ulp of 1 in f32, 1e-14 in f64. The erf and tanh variants differ by 4e-4 around |x| = 2, 200
    // times the tolerance.
    case OpClass::kGelu:
      return {polynomial, wide ? 100 * u : 4 * u, vanishing};
    // Rounding errors of n additions add up like a random walk, to sqrt(n) u of the terms'
    // magnitudes. With a factor 4 the probability of a larger error is 2 exp(-4^2 / 2) = 7e-4
    // (Higham and Mary, 2019). The rigorous bound, n u, would hide a wrong term in a long sum.
    case OpClass::kGemm:
      return {u, 4 * u, 0};
    // As kGemm. The exponentials, divisions and square roots of rows add a few ulp.
    case OpClass::kReduction:
      return {polynomial, 4 * u, vanishing};
    // Scaled queries, scores and weights are stored in the dtype of the inputs, which rounds each
    // of them once. The scale contains the magnitudes of the scores, because the softmax turns
    // their absolute errors into relative ones.
    case OpClass::kAttention:
      return {polynomial, 4 * half_ulp_of_one(dtype), vanishing};
    // The special-function unit computes powers of two. Their argument is at most 63, which f32
    // rounds with an absolute error of 2^-18. With the reciprocal the relative error is 2^-15.
    // Where a quotient vanishes, 2^-63 of x remains, and x is at most 10^9
    // (compiler/codegen/device/pair.cuh).
    case OpClass::kHopperEpilogue:
      return {0x1p-15, 0, 0x1p-33};
    // x (1 + tanh(u)) / 2 with the instruction for tanh, whose error times x / 2 is at most 1.1e-5
    // on an H200 (bench/activation_forms).
    case OpClass::kFastActivation:
      return {0x1p-15, 0, 0x1p-16};
  }
  return {};
}

// `bits` counts the significand including the leading one. `min_exponent` is the exponent of the
// smallest normal value.
struct FloatFormat {
  int bits;
  int min_exponent;
  double max;
};

inline FloatFormat float_format(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return {53, -1022, 0x1.fffffffffffffp1023};
    case DType::kF32:
      return {24, -126, 0x1.fffffep127};
    case DType::kBF16:
      return {8, -126, 0x1.fep127};
    default:
      return {11, -14, 65504};
  }
}

// Half the distance between neighbors of `value` in `dtype`. Zero for integers.
inline double half_ulp(DType dtype, double value) {
  if (!is_floating(dtype) || !std::isfinite(value)) return 0;
  const FloatFormat format = float_format(dtype);
  const int exponent =
      value == 0 ? format.min_exponent : std::max(std::ilogb(value), format.min_exponent);
  return std::ldexp(1.0, exponent - format.bits);
}

// The largest allowed difference between a result of an operator of
// `op_class` and the reference `value`.
inline double allowed_error(DType dtype, OpClass op_class, double value, double scale,
                            int64_t terms) {
  if (!is_floating(dtype) || op_class == OpClass::kExact || !std::isfinite(value)) return 0;
  const Tolerance t = tolerance(dtype, op_class);
  return half_ulp(dtype, value) + t.relative * std::abs(value) +
         t.per_scale * scale * std::sqrt(static_cast<double>(terms)) + t.absolute;
}

}  // namespace epi
