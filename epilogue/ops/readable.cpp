// SPDX-License-Identifier: Apache-2.0
#include "epilogue/ops/readable.h"

#include "epilogue/ops/functional.h"

namespace epi {

Readable readable(const Tensor& x) {
  if (const auto matrix = as_matrix(x)) return {x, *matrix};
  const Tensor copy = clone(x);
  return {copy, as_matrix(copy).value()};
}

Tensor readable_batch(const Tensor& x) { return as_matrix(first_matrix(x)) ? x : clone(x); }

Tensor with_flat_rows(const Tensor& x, const Dims& normalized) {
  const int kept = x.dim() - normalized.rank();
  Dims shape(x.shape().span().first(static_cast<size_t>(kept)));
  shape.push_back(numel(normalized));
  const auto strides = view_strides(x.layout(), shape);
  return strides ? x.with_layout("norm", {shape, *strides}, x.offset())
                 : with_flat_rows(clone(x), normalized);
}

Tensor dense_parameter(Args args, size_t position) {
  const Tensor tensor = args.optional_tensor(position);
  return tensor.defined() ? contiguous(tensor) : tensor;
}

Tensor with_a_row(std::string_view op, const Tensor& x) {
  return x.dim() == 0 ? x.with_layout(op, {{1}, {1}}, x.offset()) : x;
}

}  // namespace epi
