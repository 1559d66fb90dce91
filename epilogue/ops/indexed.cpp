// SPDX-License-Identifier: Apache-2.0
#include "epilogue/ops/indexed.h"

#include "epilogue/base/error.h"

namespace epi {

Indexed as_indexed(std::string_view op, Args args, const Tensor& out) {
  const Tensor& x = args.tensor(0);
  const Tensor& index = args.tensor(2);
  const auto d = static_cast<int>(args[1].integer());
  // Zero-dimensional tensors are one element each.
  if (out.dim() == 0) return {x, index, 0, 1};
  if (x.shape()[d] == 0) {
    fail(op, "dimension {} of {} is empty: every index is out of range", d, to_string(x.shape()));
  }
  Layout of_x{out.shape(), x.strides()};
  of_x.strides[d] = 0;
  // The index of index_select is a vector, or a zero-dimensional tensor.
  Layout of_index{out.shape(), Dims::filled(out.dim(), 0)};
  if (index.dim() == out.dim()) of_index.strides = index.strides();
  if (index.dim() != out.dim() && index.dim() == 1) of_index.strides[d] = index.stride(0);
  return {x.with_layout(op, of_x, x.offset()), index.with_layout(op, of_index, index.offset()),
          x.strides()[d], x.shape()[d]};
}

}  // namespace epi
