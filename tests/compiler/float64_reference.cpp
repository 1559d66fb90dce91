// SPDX-License-Identifier: Apache-2.0
#include "tests/compiler/float64_reference.h"

#include <cmath>
#include <limits>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

constexpr double kUnit = 0x1p-24;  // relative rounding error of f32, half an ulp
// Errors of subnormal f32 results are absolute.
constexpr double kTiny = 0x1p-126;

Tensor magnitude(const Tensor& x) { return add(relu(x), relu(neg(x))); }

// Sets the bound to infinity for values that may overflow.
Bounded without_overflow(Bounded x, double highest) {
  for (int64_t i = 0; i < x.value.numel(); ++i) {
    double& error = x.error.data<double>()[i];
    const bool fits = std::fabs(x.value.data<double>()[i]) + error < highest;  // false for NaN
    if (!fits) error = std::numeric_limits<double>::infinity();
  }
  return x;
}

// Adds one rounding of the value to `error`.
Bounded rounded(Tensor value, const Tensor& error, double units = 1) {
  const Tensor bound = add(add(error, mul(magnitude(value), units * kUnit)), kTiny);
  return without_overflow({std::move(value), bound}, 3e38);
}

}  // namespace

Bounded exact(const Tensor& x) {
  const Tensor value = to(x, DType::kF64);
  return {value, zeros(value.shape(), {DType::kF64, kCpu})};
}

Bounded bounded_add(const Bounded& a, const Bounded& b, double alpha) {
  // alpha * b is rounded separately if the CPU does not fuse the multiplication and the addition.
  const Tensor product = mul(magnitude(b.value), std::fabs(alpha) * kUnit);
  const Tensor error = add(add(a.error, mul(b.error, std::fabs(alpha))), product);
  return rounded(add(a.value, b.value, alpha), error);
}

Bounded bounded_mul(const Bounded& a, const Bounded& b) {
  const Tensor error = add(add(mul(magnitude(a.value), b.error), mul(magnitude(b.value), a.error)),
                           mul(a.error, b.error));
  return rounded(mul(a.value, b.value), error);
}

Bounded bounded_div(const Bounded& a, const Bounded& b) {
  const Tensor value = div(a.value, b.value);
  // If the divisor may be zero, the bound is negative or infinite, and the element is not tested.
  const Tensor smallest = sub(magnitude(b.value), b.error);
  return rounded(value, div(add(a.error, mul(magnitude(value), b.error)), smallest));
}

Bounded bounded_neg(const Bounded& a) { return {neg(a.value), a.error}; }

Bounded bounded_relu(const Bounded& a) { return {relu(a.value), a.error}; }

Bounded bounded_exp(const Bounded& a) {
  const Tensor value = exp(a.value);
  return rounded(value, mul(value, sub(exp(a.error), 1.0)), 4);
}

Bounded bounded_rsqrt(const Bounded& a) {
  const Tensor value = rsqrt(a.value);
  // It falls ever more slowly: the largest difference is at the lower end. NaN if that is negative.
  return rounded(value, sub(rsqrt(sub(a.value, a.error)), value), 4);
}

Bounded bounded_pow(const Bounded& a, const Bounded& b) {
  const Tensor value = pow(a.value, b.value);
  const Tensor log_a = clone(a.value);
  for (int64_t i = 0; i < log_a.numel(); ++i) {
    double& x = log_a.data<double>()[i];
    x = std::fabs(std::log(x));
  }
  // The error of b log(a), the exponent.
  const Tensor of_log = div(a.error, sub(a.value, a.error));
  const Tensor exponent = add(mul(add(magnitude(b.value), b.error), of_log), mul(b.error, log_a));
  return rounded(value, mul(value, sub(exp(exponent), 1.0)), 8);
}

Bounded bounded_smooth(Tensor (*f)(const Tensor&), double slope, double ulps, const Bounded& a) {
  const Tensor function_error = mul(magnitude(a.value), 2 * ulps * kUnit);
  return rounded(f(a.value), add(mul(a.error, slope), function_error), 2 * ulps);
}

Bounded bounded_rounded(DType dtype, const Bounded& a) {
  if (dtype == DType::kF32) return a;
  const bool is_bf16 = dtype == DType::kBF16;
  const double units = is_bf16 ? 0x1p-8 : 0x1p-11;
  const double smallest = is_bf16 ? kTiny : 0x1p-24;
  const Tensor largest = add(magnitude(a.value), a.error);
  const Tensor error = add(add(a.error, mul(largest, units)), smallest);
  return without_overflow({a.value, error}, is_bf16 ? 3e38 : 65504);
}

Verdict check_against(const Tensor& result, const Bounded& truth) {
  const Tensor found = to(contiguous(result), DType::kF64);
  const double highest = result.dtype() == DType::kF16 ? 65504 : 3e38;
  Verdict verdict;
  for (int64_t i = 0; i < found.numel(); ++i) {
    const double value = truth.value.data<double>()[i];
    const double bound = truth.error.data<double>()[i];
    const bool is_meaningful = bound >= 0 && bound < 0.01 * std::fmax(std::fabs(value), 1) &&
                               std::fabs(value) + bound < highest;
    if (!is_meaningful) continue;
    ++verdict.tested;
    const double error = std::fabs(found.data<double>()[i] - value);
    verdict.worst = std::fmax(verdict.worst, error / bound);
    if (!(error <= bound)) ++verdict.outside;
  }
  return verdict;
}

}  // namespace epi::compiler
