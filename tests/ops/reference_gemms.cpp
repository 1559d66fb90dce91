// SPDX-License-Identifier: Apache-2.0
// GEMM references with the sums of magnitudes that bound their errors.
#include <algorithm>
#include <cmath>

#include "tests/ops/reference.h"

namespace epi::ref {
namespace {

RefTensor zeros(const Dims& shape) {
  const auto count = static_cast<size_t>(numel(shape));
  return {shape, std::vector<double>(count), std::vector<double>(count), 1};
}

// Adds one row-major GEMM to `out`, starting at element `at`.
void multiply(const double* a, const double* b, Dims mnk, RefTensor& out, int64_t at) {
  const int64_t n = mnk[1];
  for (int64_t i = 0; i < mnk[0]; ++i) {
    double* values = out.values.data() + at + i * n;
    double* scales = out.scales.data() + at + i * n;
    for (int64_t k = 0; k < mnk[2]; ++k) {
      const double left = a[i * mnk[2] + k];
      for (int64_t j = 0; j < n; ++j) values[j] += left * b[k * n + j];
      for (int64_t j = 0; j < n; ++j) scales[j] += std::abs(left * b[k * n + j]);
    }
  }
}

// alpha * gemm + added, with `added` broadcast to the shape of `gemm`.
RefTensor combined(RefTensor gemm, double alpha, const RefTensor& added) {
  const RefTensor terms = expand(added, gemm.shape);
  for (size_t i = 0; i < gemm.values.size(); ++i) {
    gemm.values[i] = alpha * gemm.values[i] + terms.values[i];
    gemm.scales[i] = std::abs(alpha) * gemm.scales[i] + std::abs(terms.values[i]);
  }
  ++gemm.terms;
  return gemm;
}

Dims leading(const Dims& shape) {
  return Dims(shape.span().first(static_cast<size_t>(shape.rank() - 2)));
}

Dims with_matrix(Dims batch, int64_t rows, int64_t cols) {
  batch.push_back(rows);
  batch.push_back(cols);
  return batch;
}

}  // namespace

RefTensor mm(const RefTensor& a, const RefTensor& b) {
  RefTensor out = zeros({a.shape[0], b.shape[1]});
  out.terms = std::max<int64_t>(a.shape[1], 1);
  multiply(a.values.data(), b.values.data(), {a.shape[0], b.shape[1], a.shape[1]}, out, 0);
  return out;
}

RefTensor addmm(const RefTensor& self, const RefTensor& a, const RefTensor& b, double beta,
                double alpha) {
  // As in ATen, `self` is ignored if beta is zero, even if it contains NaN.
  RefTensor added = self;
  for (double& value : added.values) value = beta == 0 ? 0 : beta * value;
  return combined(mm(a, b), alpha, added);
}

RefTensor addmm_activation(const RefTensor& self, const RefTensor& a, const RefTensor& b,
                           double beta, double alpha, Unary activation) {
  RefTensor out = addmm(self, a, b, beta, alpha);
  for (double& value : out.values) value = activation(value);
  return out;
}

RefTensor bmm(const RefTensor& a, const RefTensor& b) {
  const int64_t m = a.shape[1];
  const int64_t k = a.shape[2];
  const int64_t n = b.shape[2];
  RefTensor out = zeros({a.shape[0], m, n});
  out.terms = std::max<int64_t>(k, 1);
  for (int64_t i = 0; i < a.shape[0]; ++i) {
    multiply(a.values.data() + i * m * k, b.values.data() + i * k * n, {m, n, k}, out, i * m * n);
  }
  return out;
}

RefTensor matmul(const RefTensor& a, const RefTensor& b) {
  if (a.shape.rank() == 1) {  // treated as a row, whose dimension is removed from the result
    RefTensor out = matmul(reshape(a, {1, a.shape[0]}), b);
    out.shape.erase(b.shape.rank() == 1 ? 0 : out.shape.rank() - 2);
    return out;
  }
  if (b.shape.rank() == 1) {
    RefTensor out = matmul(a, reshape(b, {b.shape[0], 1}));
    out.shape.erase(out.shape.rank() - 1);
    return out;
  }
  const int rank_a = a.shape.rank();
  const int rank_b = b.shape.rank();
  const int64_t m = a.shape[rank_a - 2];
  const int64_t k = a.shape[rank_a - 1];
  const int64_t n = b.shape[rank_b - 1];
  const Dims batch = broadcast(leading(a.shape), leading(b.shape));
  const int64_t count = numel(batch);
  const RefTensor left = reshape(expand(a, with_matrix(batch, m, k)), {count, m, k});
  const RefTensor right = reshape(expand(b, with_matrix(batch, k, n)), {count, k, n});
  return reshape(bmm(left, right), with_matrix(batch, m, n));
}

RefTensor linear(const RefTensor& x, const RefTensor& weight) {
  return matmul(x, transpose(weight, 0, 1));
}

RefTensor linear(const RefTensor& x, const RefTensor& weight, const RefTensor& bias) {
  return combined(linear(x, weight), 1, bias);
}

}  // namespace epi::ref
