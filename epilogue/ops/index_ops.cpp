// SPDX-License-Identifier: Apache-2.0
// Operators that read elements by index or by mask.
#include "epilogue/ops/checks.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/ops/results.h"
#include "epilogue/tensor/factories.h"

namespace epi {
namespace {

// As check_same_kind, for operands of different dtypes.
void check_device(std::string_view op, const Tensor& a, const Tensor& b) {
  check_defined(op, a);
  check_defined(op, b);
  if (a.device() != b.device() && detail::capture == nullptr) {
    fail(op, "devices differ: {} and {}", name(a.device()), name(b.device()));
  }
}

void check_index(std::string_view op, const Tensor& x, const Tensor& index) {
  check_device(op, x, index);
  if (index.dtype() != DType::kI64 && index.dtype() != DType::kI32) {
    fail(op, "indices must be i64 or i32, not {}", name(index.dtype()));
  }
}

void check_condition(const Tensor& condition, const Tensor& x) {
  check_device("where", condition, x);
  if (condition.dtype() != DType::kBool) {
    fail("where", "the condition must be bool, not {}", name(condition.dtype()));
  }
  broadcast_shapes("where", condition.shape(), x.shape());  // throws if incompatible
}

void check_number(const Tensor& x, double number) {
  if (x.dtype() == DType::kBool || can_represent(x.dtype(), number)) return;
  fail("where", "the number {} is not representable in {}, the dtype of the tensor", number,
       name(x.dtype()));
}

}  // namespace

Tensor embedding(const Tensor& weight, const Tensor& indices) {
  check_index("embedding", weight, indices);
  check_rank("embedding", weight, 2);
  return dispatch(Op::kEmbedding, {weight, indices});
}

Tensor gather(const Tensor& x, int64_t dim, const Tensor& index) {
  check_index("gather", x, index);
  const int d = normalize_dim("gather", dim, x.dim());
  if (index.dim() != x.dim()) {
    fail("gather", "the index is {}, the input {}: they must have as many dimensions",
         to_string(index.shape()), to_string(x.shape()));
  }
  bool fits = true;
  for (int i = 0; fits && i < x.dim(); ++i) {
    fits = i == d || index.shape()[i] <= x.shape()[i];
  }
  if (!fits) {
    fail("gather", "the index {} exceeds the input {} in a dimension other than {}",
         to_string(index.shape()), to_string(x.shape()), d);
  }
  return dispatch(Op::kGather, {x, d, index});
}

Tensor index_select(const Tensor& x, int64_t dim, const Tensor& index) {
  check_index("index_select", x, index);
  if (x.dim() == 0) fail("index_select", "a zero-dimensional tensor has no dimension to index");
  const int d = normalize_dim("index_select", dim, x.dim());
  if (index.dim() > 1) {
    fail("index_select", "the index must be a vector, not {}", to_string(index.shape()));
  }
  return dispatch(Op::kIndexSelect, {x, d, index});
}

Tensor where(const Tensor& condition, const Tensor& x, const Tensor& other) {
  check_same_kind("where", x, other);
  check_condition(condition, x);
  const Dims shape = broadcast_shapes("where", condition.shape(), x.shape());
  broadcast_shapes("where", shape, other.shape());
  return dispatch(Op::kWhere, {condition, x, other});
}

Tensor where(const Tensor& condition, const Tensor& x, double other) {
  check_condition(condition, x);
  check_number(x, other);
  return dispatch(Op::kWhere, {condition, x, other});
}

Tensor where(const Tensor& condition, double x, const Tensor& other) {
  check_condition(condition, other);
  check_number(other, x);
  return dispatch(Op::kWhere, {condition, x, other});
}

namespace results {

// As ATen: the rows of the flattened indices.
Tensor embedding(Args args) {
  const Tensor& weight = args.tensor(0);
  const Tensor& indices = args.tensor(1);
  if (indices.dim() == 1) return epi::index_select(weight, 0, indices);
  Dims shape = indices.shape();
  shape.push_back(weight.size(1));
  return epi::view(epi::index_select(weight, 0, epi::reshape(indices, {indices.numel()})), shape);
}

Tensor gather(Args args) {
  const Tensor& x = args.tensor(0);
  return empty(args.tensor(2).shape(), {x.dtype(), x.device()});
}

Tensor index_select(Args args) {
  const Tensor& x = args.tensor(0);
  Dims shape = x.shape();
  shape[static_cast<int>(args[1].integer())] = args.tensor(2).numel();
  return empty(shape, {x.dtype(), x.device()});
}

Tensor where(Args args) {
  Dims shape = args.tensor(0).shape();
  for (const size_t i : {1U, 2U}) {
    if (args[i].is_tensor()) shape = broadcast_shapes("where", shape, args.tensor(i).shape());
  }
  const Tensor& x = args.tensor(args[1].is_tensor() ? 1 : 2);
  return empty(shape, {x.dtype(), x.device()});
}

}  // namespace results
}  // namespace epi
