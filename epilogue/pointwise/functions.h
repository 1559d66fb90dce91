// SPDX-License-Identifier: Apache-2.0
// The arithmetic of every pointwise operator, written once as a template over the number type V.
// This file has no include guard and includes nothing. Each target defines EPI_FN and the
// primitives for its number types, then includes this file inside its own namespace.
//
//   target                      V                  primitives
//   eager CPU loops             float, double      cpu/loops/primitives.h, polynomials.h
//   eager CUDA kernels          float, double,     cuda/primitives.cuh,
//                               Approximate        cuda/approximate.cuh
//   generated CUDA kernels      float, Pair        compiler/codegen/device/primitives.cuh, pair.cuh
//   generated LLVM IR           IrNumber           compiler/codegen/ir_number.h, polynomials.h
// Integers (operators with kNumbers) use WrappingInt (wrapping_int.h).
//
// Primitives, in addition to V(constant), + - * / and <, which returns V's mask type:
//   select(mask, a, b)       a if the mask is set, else b
//   fma(a, b, c)             a b + c, rounded once if the target supports it
//   min(a, b), max(a, b)     NaN if either operand is NaN
//   abs(x), exp(x), log(x), log1p(x), tanh(x), erf(x), rsqrt(x)
//   cos(x), sin(x)           for every finite x, also far from 0; NaN for infinities
//   pow(x, y)                with the special cases of C; one multiplication if y is the number 2
//   normal_cdf(x)            (1 + erf(x / sqrt(2))) / 2, with full relative precision in the tails
//   over_one_plus_exp(x, u)  x / (1 + exp(u))
// A target may overload an operator for one of its types if that is faster. A test then compares
// the overload with the definition here.

template <class V>
EPI_FN V add(V a, V b, V alpha) {
  return fma(alpha, b, a);
}

template <class V>
EPI_FN V sub(V a, V b, V alpha) {
  return fma(-alpha, b, a);
}

template <class V>
EPI_FN V mul(V a, V b) {
  return a * b;
}

template <class V>
EPI_FN V div(V a, V b) {
  return a / b;
}

template <class V>
EPI_FN V neg(V x) {
  return -x;
}

// NaN propagates: the comparison is false for it.
template <class V>
EPI_FN V relu(V x) {
  return select(x < V(0), V(0), x);
}

template <class V>
EPI_FN V sigmoid(V x) {
  return over_one_plus_exp(V(1), -x);
}

template <class V>
EPI_FN V silu(V x) {
  return over_one_plus_exp(x, -x);
}

template <class V>
EPI_FN V gelu(V x) {
  return x * normal_cdf(x);
}

// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3) equals x / (1 + exp(-2u)). This form
// needs one exp and does not cancel when tanh(u) is near -1.
template <class V>
EPI_FN V gelu_tanh(V x) {
  const V inner = fma(x * x * x, V(0.044715), x);
  return over_one_plus_exp(x, inner * V(-1.5957691216057308));
}

// log(1 + exp(beta x)) / beta, or x if beta x is above the threshold.
template <class V>
EPI_FN V softplus(V x, V beta, V threshold) {
  const V scaled = x * beta;
  return select(threshold < scaled, x, log1p(exp(scaled)) / beta);
}

template <class V>
EPI_FN V leaky_relu(V x, V negative_slope) {
  return select(V(0) < x, x, x * negative_slope);
}

// Returns `high` if low > high.
template <class V>
EPI_FN V clamp(V x, V low, V high) {
  return min(max(x, low), high);
}

template <class V>
EPI_FN V hardswish(V x) {
  return x * (min(max(x + V(3), V(0)), V(6)) / V(6));
}
