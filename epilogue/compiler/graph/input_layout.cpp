// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/input_layout.h"

namespace epi::compiler {
namespace {

bool is_dense(const Tensor& x, const Dims& order) {
  int64_t expected = 1;
  for (int i = order.rank(); i-- > 0;) {
    const auto d = static_cast<int>(order[i]);
    const int64_t size = x.shape()[d];
    if (size != 1 && x.strides()[d] != expected) return false;
    expected *= size;
  }
  return true;
}

// Row-major if the tensor is contiguous, otherwise by decreasing stride.
Dims order_of(const Tensor& x) {
  Dims order;
  for (int d = 0; d < x.dim(); ++d) {
    int at = order.rank();
    while (!x.is_contiguous() && at > 0 &&
           x.strides()[static_cast<int>(order[at - 1])] < x.strides()[d]) {
      --at;
    }
    order.insert(at, d);
  }
  return order;
}

}  // namespace

InputLayout layout_of(const Tensor& x) {
  const Dims order = order_of(x);
  if (is_dense(x, order)) return {order, {}};
  return {std::nullopt, x.strides()};
}

bool matches_layout(const Tensor& x, const InputLayout& layout) {
  if (layout.order) return x.dim() == layout.order->rank() && is_dense(x, *layout.order);
  return x.strides() == layout.strides;
}

Dims strides_for(const InputLayout& layout, const Dims& shape) {
  if (!layout.order) return layout.strides;
  Dims strides = Dims::filled(shape.rank(), 1);
  int64_t next = 1;
  for (int i = shape.rank(); i-- > 0;) {
    const auto d = static_cast<int>((*layout.order)[i]);
    strides[d] = next;
    next *= shape[d];
  }
  return strides;
}

}  // namespace epi::compiler
