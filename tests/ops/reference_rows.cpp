// SPDX-License-Identifier: Apache-2.0
// References of reductions, softmax and norms.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/ops/reference.h"

namespace epi::ref {
namespace {

bool reduces(const Dims& dims, int d) {
  return dims.empty() || std::find(dims.begin(), dims.end(), d) != dims.end();
}

Dims without(const Dims& shape, const Dims& dims) {
  Dims kept;
  for (int i = 0; i < shape.rank(); ++i) {
    if (!reduces(dims, i)) kept.push_back(shape[i]);
  }
  return kept;
}

// Folds `x` over `dims` with `f`, starting from `start`. The
// folded dimensions remain with size one.
template <typename Binary>
RefTensor fold(const RefTensor& x, const Dims& dims, double start, Binary&& f) {
  Dims shape = x.shape;
  for (int i = 0; i < shape.rank(); ++i) {
    if (reduces(dims, i)) shape[i] = 1;
  }
  RefTensor out{shape, std::vector<double>(static_cast<size_t>(numel(shape)), start)};
  for_each_index(x.shape, [&](Dims index, size_t i) {
    for (int d = 0; d < index.rank(); ++d) {
      if (shape[d] == 1) index[d] = 0;
    }
    double& value = out.values[position(index, shape)];
    value = f(value, x.values[i]);
  });
  return out;
}

RefTensor shaped(RefTensor out, const RefTensor& x, const Dims& dims, bool keepdim) {
  if (!keepdim) out.shape = without(x.shape, dims);
  return out;
}

// Number of elements folded into each value.
int64_t fold_count(const RefTensor& x, const Dims& dims) {
  int64_t count = 1;
  for (int i = 0; i < x.shape.rank(); ++i) {
    if (reduces(dims, i)) count *= x.shape[i];
  }
  return count;
}

// Applies weight and bias of a norm to the value and the scale of element `i` in column `c`.
void apply_affine(RefTensor& out, size_t i, size_t c, const RefTensor* weight,
                  const RefTensor* bias) {
  if (weight != nullptr) {
    out.values[i] *= weight->values[c];
    out.scales[i] *= std::abs(weight->values[c]);
  }
  if (bias != nullptr) {
    out.values[i] += bias->values[c];
    out.scales[i] += std::abs(bias->values[c]);
  }
}

}  // namespace

RefTensor sum(const RefTensor& x, const Dims& dims, bool keepdim) {
  RefTensor out = fold(x, dims, 0, [](double a, double b) { return a + b; });
  out.scales = fold(x, dims, 0, [](double a, double b) { return a + std::abs(b); }).values;
  out.terms = std::max<int64_t>(fold_count(x, dims), 1);
  return shaped(out, x, dims, keepdim);
}

RefTensor mean(const RefTensor& x, const Dims& dims, bool keepdim) {
  RefTensor out = sum(x, dims, keepdim);
  const auto count = static_cast<double>(fold_count(x, dims));
  for (double& value : out.values) value /= count;
  for (double& value : out.scales) value /= count;
  return out;
}

RefTensor amax(const RefTensor& x, const Dims& dims, bool keepdim) {
  const auto larger = [](double a, double b) { return a > b || std::isnan(a) ? a : b; };
  const double lowest = -std::numeric_limits<double>::infinity();
  return shaped(fold(x, dims, lowest, larger), x, dims, keepdim);
}

RefTensor softmax(const RefTensor& x, int dim) {
  const RefTensor top = amax(x, {dim}, true);
  const RefTensor e = map(x, top, [](double a, double b) { return std::exp(a - b); });
  RefTensor out = div(e, sum(e, {dim}, true));
  // The sum has positive terms only. The rounding error of x - top, which is proportional to its
  // magnitude, becomes a relative error of the exponential.
  const RefTensor depth = map(x, top, [](double a, double b) { return a == b ? 0 : b - a; });
  out.scales = out.values;
  for (size_t i = 0; i < out.scales.size(); ++i) {
    if (out.values[i] > 0) out.scales[i] *= 1 + depth.values[i];
  }
  out.terms = x.shape.empty() ? 1 : std::max<int64_t>(x.shape[dim], 1);
  return out;
}

RefTensor layer_norm(const RefTensor& x, int64_t columns, const RefTensor* weight,
                     const RefTensor* bias, double eps) {
  RefTensor out{x.shape, x.values, x.values, columns};
  const auto n = static_cast<size_t>(columns);
  for (size_t row = 0; row < x.values.size(); row += n) {
    const double* in = x.values.data() + row;
    // long double, because for a row of equal values the result is just the error of the mean.
    long double sum = 0;
    double magnitude = 0;
    for (size_t c = 0; c < n; ++c) sum += in[c];
    for (size_t c = 0; c < n; ++c) magnitude += std::abs(in[c]) / static_cast<double>(n);
    const auto mean = static_cast<double>(sum / static_cast<long double>(n));
    double variance = 0;
    for (size_t c = 0; c < n; ++c) variance += (in[c] - mean) * (in[c] - mean);
    const double rstd = 1 / std::sqrt(variance / static_cast<double>(n) + eps);
    for (size_t c = 0; c < n; ++c) {
      out.values[row + c] = (in[c] - mean) * rstd;
      out.scales[row + c] = (std::abs(in[c]) + magnitude) * rstd;
      apply_affine(out, row + c, c, weight, bias);
    }
  }
  return out;
}

RefTensor rms_norm(const RefTensor& x, int64_t columns, const RefTensor* weight, double eps) {
  RefTensor out{x.shape, x.values, x.values, columns};
  const auto n = static_cast<size_t>(columns);
  for (size_t row = 0; row < x.values.size(); row += n) {
    double squares = 0;
    for (size_t c = 0; c < n; ++c) squares += x.values[row + c] * x.values[row + c];
    const double rrms = 1 / std::sqrt(squares / static_cast<double>(n) + eps);
    for (size_t c = 0; c < n; ++c) {
      out.values[row + c] = x.values[row + c] * rrms;
      out.scales[row + c] = std::abs(out.values[row + c]);
      apply_affine(out, row + c, c, weight, nullptr);
    }
  }
  return out;
}

}  // namespace epi::ref
