// SPDX-License-Identifier: Apache-2.0
// float64 references of all operators: naive loops over row-major values that use no operator of
// the library. A reference takes its inputs from `read(x)`, after they were rounded to their dtype.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "epilogue/tensor/tensor.h"

namespace epi {

struct RefTensor {
  Dims shape;
  std::vector<double> values;  // row-major
  // For values that are sums, rounding errors grow with the sum of the terms' magnitudes (`scales`,
  // one per value) and with the number of terms. `scales` is empty if the error depends only on the
  // magnitude of the value.
  std::vector<double> scales = {};
  int64_t terms = 1;

  double scale(size_t i) const { return scales.empty() ? 0 : scales[i]; }
};

namespace ref {

// Reads every element through the strides of `x`.
RefTensor read(const Tensor& x);
std::vector<RefTensor> read(std::span<const Tensor> tensors);
// `value` converted to `dtype` and back to double.
double rounded(double value, DType dtype);

// Calls `visit(index, position)` for each index of `shape` in row-major order.
template <typename Visit>
void for_each_index(const Dims& shape, Visit&& visit) {
  const int64_t count = numel(shape);
  Dims index = Dims::filled(shape.rank(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(index, static_cast<size_t>(i));
    for (int d = shape.rank() - 1; d >= 0; --d) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
}
inline size_t position(const Dims& index, const Dims& shape) {
  int64_t at = 0;
  for (int i = 0; i < shape.rank(); ++i) at = at * shape[i] + index[i];
  return static_cast<size_t>(at);
}
// The broadcast shape of `a` and `b`, which must be compatible.
Dims broadcast(const Dims& a, const Dims& b);
// The tensor of `shape` whose value at `index` is that of `x` at `source(index)`.
template <typename Source>
RefTensor gather(const RefTensor& x, const Dims& shape, Source&& source) {
  RefTensor out{shape, std::vector<double>(static_cast<size_t>(numel(shape)))};
  for_each_index(shape, [&](const Dims& index, size_t i) {
    out.values[i] = x.values[position(source(index), x.shape)];
  });
  return out;
}

// Views, as index maps. `dim` must not be negative.
RefTensor expand(const RefTensor& x, const Dims& shape);
RefTensor permute(const RefTensor& x, const Dims& order);
RefTensor transpose(const RefTensor& x, int dim0, int dim1);
RefTensor reshape(const RefTensor& x, const Dims& shape);
RefTensor select(const RefTensor& x, int dim, int64_t index);
RefTensor slice(const RefTensor& x, int dim, int64_t start, int64_t end, int64_t step = 1);
RefTensor cat(std::span<const RefTensor> tensors, int dim);

// GEMMs. `scales` holds the sums of the terms' magnitudes.
RefTensor mm(const RefTensor& a, const RefTensor& b);
RefTensor addmm(const RefTensor& self, const RefTensor& a, const RefTensor& b, double beta = 1,
                double alpha = 1);
// The result keeps the scales of the GEMM, so the slope of `activation` must be at most one.
using Unary = double (*)(double);
RefTensor addmm_activation(const RefTensor& self, const RefTensor& a, const RefTensor& b,
                           double beta, double alpha, Unary activation);
RefTensor bmm(const RefTensor& a, const RefTensor& b);
RefTensor matmul(const RefTensor& a, const RefTensor& b);
RefTensor linear(const RefTensor& x, const RefTensor& weight);
RefTensor linear(const RefTensor& x, const RefTensor& weight, const RefTensor& bias);

// Pointwise operators, with broadcasting.
RefTensor map(const RefTensor& x, Unary f);
template <typename Binary>
RefTensor map(const RefTensor& x, const RefTensor& y, Binary&& f) {
  RefTensor out = expand(x, broadcast(x.shape, y.shape));
  const RefTensor right = expand(y, out.shape);
  for (size_t i = 0; i < out.values.size(); ++i) {
    out.values[i] = f(out.values[i], right.values[i]);
  }
  return out;
}
RefTensor scalar(double value);
RefTensor add(const RefTensor& x, const RefTensor& y, double alpha = 1);
RefTensor sub(const RefTensor& x, const RefTensor& y, double alpha = 1);
RefTensor mul(const RefTensor& x, const RefTensor& y);
RefTensor div(const RefTensor& x, const RefTensor& y);
RefTensor gelu(const RefTensor& x, bool by_tanh);
double relu(double x);
double sigmoid(double x);
double silu(double x);
double gelu_erf(double x);
double gelu_tanh(double x);

// Elements by index and by mask. A condition is true where it is not 0.
RefTensor index_select(const RefTensor& x, int dim, const RefTensor& index);
RefTensor gather_along(const RefTensor& x, int dim, const RefTensor& index);
RefTensor where(const RefTensor& condition, const RefTensor& x, const RefTensor& other);

// softmax(q @ k.t() * scale + mask) @ v of [batch, heads, rows, depth], where the heads of q are a
// multiple of those of k and v. The mask has the shape of the scores.
RefTensor attention(const RefTensor& q, const RefTensor& k, const RefTensor& v,
                    const RefTensor& mask, double scale);

// Reductions, softmax and norms. An empty `dims` means all dimensions.
RefTensor sum(const RefTensor& x, const Dims& dims = {}, bool keepdim = false);
RefTensor mean(const RefTensor& x, const Dims& dims = {}, bool keepdim = false);
RefTensor amax(const RefTensor& x, const Dims& dims = {}, bool keepdim = false);
RefTensor softmax(const RefTensor& x, int dim);
// The index of the first largest element. NaN is the largest.
RefTensor argmax(const RefTensor& x, int dim, bool keepdim = false);
// The indices of the `k` largest or smallest elements in order, equal ones by index.
RefTensor topk_indices(const RefTensor& x, int64_t k, int dim, bool largest = true);
RefTensor safe_softmax(const RefTensor& x, int dim);
RefTensor causal_softmax(const RefTensor& x);
// `weight` and `bias` may be null. `columns` is the number of normalized elements.
RefTensor layer_norm(const RefTensor& x, int64_t columns, const RefTensor* weight,
                     const RefTensor* bias, double eps);
RefTensor rms_norm(const RefTensor& x, int64_t columns, const RefTensor* weight, double eps);

}  // namespace ref
}  // namespace epi
