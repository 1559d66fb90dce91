// SPDX-License-Identifier: Apache-2.0
// GEMMs. `matmul` and `linear` follow ATen's chains of views around `mm` and `addmm`, so that our
// traces look like PyTorch's.
#include "epilogue/ops/checks.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/results.h"
#include "epilogue/tensor/factories.h"

namespace epi {
namespace {

void check_inner(std::string_view op, const Tensor& a, const Tensor& b) {
  if (a.size(-1) != b.size(-2)) {
    fail(op, "inner sizes differ: the first matrix is {}, the second {}", to_string(a.shape()),
         to_string(b.shape()));
  }
}

// The shape without its last `count` dimensions.
Dims leading(const Dims& shape, int count) {
  return Dims(shape.span().first(static_cast<size_t>(shape.rank() - count)));
}

Dims append(Dims shape, std::initializer_list<int64_t> more) {
  for (const int64_t size : more) shape.push_back(size);
  return shape;
}

// [batch..., m, k], broadcast to `batch`, as [numel(batch), m, k].
Tensor as_batch(const Tensor& x, const Dims& batch) {
  const int64_t rows = x.size(-2);
  const int64_t cols = x.size(-1);
  return reshape(expand(x, append(batch, {rows, cols})), {numel(batch), rows, cols});
}

// At least one side has three or more dimensions, the other at least two.
Tensor matmul_batched(const Tensor& a, const Tensor& b) {
  const int64_t n = b.size(-1);
  if (b.dim() == 2) {  // the batch folds into the rows: one large GEMM
    const Tensor rows = reshape(a, {numel(leading(a.shape(), 1)), a.size(-1)});
    return _unsafe_view(mm(rows, b), append(leading(a.shape(), 1), {n}));
  }
  const Dims batch = broadcast_shapes("matmul", leading(a.shape(), 2), leading(b.shape(), 2));
  const Tensor left = as_batch(a, batch);  // separate statements fix the order in a trace
  const Tensor right = as_batch(b, batch);
  const Tensor gemm = bmm(left, right);
  return _unsafe_view(gemm, append(batch, {a.size(-2), n}));
}

void check_addmm(std::string_view op, const Tensor& self, const Tensor& mat1, const Tensor& mat2) {
  check_floating(op, self);
  check_same_kind(op, self, mat1);
  check_same_kind(op, mat1, mat2);
  check_rank(op, mat1, 2);
  check_rank(op, mat2, 2);
  check_inner(op, mat1, mat2);
  broadcast_strides(op, self.layout(), {mat1.size(0), mat2.size(1)});
}

void check_linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_floating("linear", x);
  check_same_kind("linear", x, weight);
  check_rank("linear", weight, 2);
  if (x.dim() == 0) fail("linear", "the input must have at least one dimension");
  if (x.size(-1) != weight.size(1)) {
    fail("linear", "inner sizes differ: the input is {}, the weight {}", to_string(x.shape()),
         to_string(weight.shape()));
  }
  if (!bias.defined()) return;
  check_same_kind("linear", x, bias);
  if (bias.dim() != 1 || bias.size(0) != weight.size(0)) {
    fail("linear", "the bias is {}, the weight {}: the bias must be [{}]", to_string(bias.shape()),
         to_string(weight.shape()), weight.size(0));
  }
}

}  // namespace

Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, double beta,
             double alpha) {
  check_addmm("addmm", self, mat1, mat2);
  return dispatch(Op::kAddmm, {self, mat1, mat2, factor(beta), factor(alpha)});
}

Tensor _addmm_activation(const Tensor& self, const Tensor& mat1, const Tensor& mat2, double beta,
                         double alpha, bool use_gelu) {
  check_addmm("_addmm_activation", self, mat1, mat2);
  return dispatch(Op::kAddmmActivation, {self, mat1, mat2, factor(beta), factor(alpha), use_gelu});
}

Tensor bmm(const Tensor& a, const Tensor& b) {
  check_floating("bmm", a);
  check_same_kind("bmm", a, b);
  check_rank("bmm", a, 3);
  check_rank("bmm", b, 3);
  check_inner("bmm", a, b);
  if (a.size(0) != b.size(0)) {
    fail("bmm", "batch sizes differ: {} and {}", a.size(0), b.size(0));
  }
  return dispatch(Op::kBmm, {a, b});
}

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  check_linear(x, weight, bias);
  return dispatch(Op::kLinear, {x, weight, bias});
}

Tensor matmul(const Tensor& a, const Tensor& b) {
  check_floating("matmul", a);
  check_same_kind("matmul", a, b);
  if (a.dim() == 0 || b.dim() == 0) {
    fail("matmul", "both operands need at least one dimension: {} and {}", to_string(a.shape()),
         to_string(b.shape()));
  }
  if (a.size(-1) != b.size(b.dim() == 1 ? -1 : -2)) {
    fail("matmul", "inner sizes differ: the first operand is {}, the second {}",
         to_string(a.shape()), to_string(b.shape()));
  }
  return dispatch(Op::kMatmul, {a, b});
}

Tensor mm(const Tensor& a, const Tensor& b) {
  check_floating("mm", a);
  check_same_kind("mm", a, b);
  check_rank("mm", a, 2);
  check_rank("mm", b, 2);
  check_inner("mm", a, b);
  return dispatch(Op::kMm, {a, b});
}

namespace results {

Tensor addmm(Args args) {
  const Tensor& a = args.tensor(1);
  return empty({a.size(0), args.tensor(2).size(1)}, {a.dtype(), a.device()});
}

Tensor bmm(Args args) {
  const Tensor& a = args.tensor(0);
  return empty({a.size(0), a.size(1), args.tensor(1).size(2)}, {a.dtype(), a.device()});
}

Tensor linear(Args args) {
  const Tensor& x = args.tensor(0);
  const Tensor& weight = args.tensor(1);
  const Tensor bias = args.optional_tensor(2);
  if (!bias.defined()) {
    const Tensor transposed = epi::t(weight);  // a separate statement: `t` comes first in a trace
    return epi::matmul(x, transposed);
  }
  if (x.dim() == 2) return epi::addmm(bias, x, epi::t(weight));
  const Dims batch = leading(x.shape(), 1);
  const Tensor rows = epi::reshape(x, {numel(batch), x.size(-1)});
  return epi::view(epi::addmm(bias, rows, epi::t(weight)), append(batch, {weight.size(0)}));
}

Tensor matmul(Args args) {
  const Tensor& a = args.tensor(0);
  const Tensor& b = args.tensor(1);
  if (b.dim() == 1) return epi::squeeze(epi::matmul(a, epi::unsqueeze(b, 1)), -1);
  if (a.dim() == 1) return epi::squeeze(epi::matmul(epi::unsqueeze(a, 0), b), -2);
  if (a.dim() == 2 && b.dim() == 2) return epi::mm(a, b);
  return matmul_batched(a, b);
}

Tensor mm(Args args) {
  const Tensor& a = args.tensor(0);
  return empty({a.size(0), args.tensor(1).size(1)}, {a.dtype(), a.device()});
}

}  // namespace results
}  // namespace epi
