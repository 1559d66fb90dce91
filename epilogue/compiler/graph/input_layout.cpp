// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/input_layout.h"

namespace epi::compiler {
namespace {

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
  InputLayout layout{order_of(x), Dims::filled(x.dim(), InputLayout::kFollows)};
  if (x.numel() == 0) {
    for (int d = 0; d < x.dim(); ++d) layout.order[d] = d;
    return layout;
  }
  int64_t next = 1;
  for (int i = x.dim(); i-- > 0;) {
    const auto d = static_cast<int>(layout.order[i]);
    const int64_t stride = x.strides()[d];
    // With a single row, a longer stride says how far apart more rows would be. A shorter one says
    // nothing.
    if (x.shape()[d] == 1 && stride < next) continue;
    if (stride != next) layout.strides[d] = stride;
    next = stride * x.shape()[d];
  }
  return layout;
}

Dims strides_for(const InputLayout& layout, const Dims& shape) {
  Dims strides = Dims::filled(shape.rank(), 1);
  int64_t next = 1;
  for (int i = shape.rank(); i-- > 0;) {
    const auto d = static_cast<int>(layout.order[i]);
    strides[d] = layout.strides[d] == InputLayout::kFollows ? next : layout.strides[d];
    next = strides[d] * shape[d];
  }
  return strides;
}

}  // namespace epi::compiler
