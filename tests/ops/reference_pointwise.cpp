// SPDX-License-Identifier: Apache-2.0
// Pointwise references, computed with libm.
#include <cmath>

#include "tests/ops/reference.h"

namespace epi::ref {

RefTensor scalar(double value) { return {{}, {value}}; }

RefTensor map(const RefTensor& x, Unary f) {
  RefTensor out{x.shape, x.values};
  for (double& value : out.values) value = f(value);
  return out;
}

RefTensor add(const RefTensor& x, const RefTensor& y, double alpha) {
  RefTensor out = map(x, y, [=](double a, double b) { return a + alpha * b; });
  // alpha * b may be rounded before the addition. With alpha == 1 there is nothing to round.
  if (alpha != 1)
    out.scales = map(x, y, [=](double, double b) { return std::abs(alpha * b); }).values;
  return out;
}

RefTensor sub(const RefTensor& x, const RefTensor& y, double alpha) {
  RefTensor out = add(x, y, -alpha);
  if (alpha == 1) out.scales.clear();
  return out;
}

RefTensor mul(const RefTensor& x, const RefTensor& y) {
  return map(x, y, [](double a, double b) { return a * b; });
}

RefTensor div(const RefTensor& x, const RefTensor& y) {
  return map(x, y, [](double a, double b) { return a / b; });
}

RefTensor gelu(const RefTensor& x, bool by_tanh) {
  RefTensor out = map(x, by_tanh ? gelu_tanh : gelu_erf);
  // 1 + erf cancels for negative x: the remainder keeps the absolute
  // error of a value near 1, times x.
  out.scales = map(x, [](double v) { return std::isfinite(v) ? std::abs(v) : 0; }).values;
  return out;
}

double relu(double x) { return x < 0 ? 0 : x; }  // keeps NaN

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double silu(double x) { return x * sigmoid(x); }

// Uses erfc because 1 + erf cancels in the tail. The library is allowed to cancel there.
double gelu_erf(double x) { return 0.5 * x * std::erfc(-x / std::sqrt(2.0)); }

// Uses 0.5 (1 + tanh z) = sigmoid(2 z), which does not cancel.
double gelu_tanh(double x) {
  const double pi = std::acos(-1.0);
  return x * sigmoid(2 * std::sqrt(2 / pi) * (x + 0.044715 * x * x * x));
}

}  // namespace epi::ref
