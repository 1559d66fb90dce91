// SPDX-License-Identifier: Apache-2.0
// The memory layout of an input of a captured function: an order of its dimensions, and for each
// stride either its value or that it follows from the sizes and strides of faster dimensions. All
// sizes may be dynamic.
#pragma once

#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

struct InputLayout {
  static constexpr int64_t kFollows = INT64_MIN;
  Dims order;    // the dimensions, slowest first
  Dims strides;  // by dimension: a fixed stride, or kFollows
};

InputLayout layout_of(const Tensor& x);
// The strides of a tensor with this layout and these sizes.
Dims strides_for(const InputLayout& layout, const Dims& shape);

}  // namespace epi::compiler
