// SPDX-License-Identifier: Apache-2.0
// How an input of a captured function lies in memory. A dense one, in whatever order its dimensions
// follow each other, has strides that follow from its sizes: those may stay free. Of any other the
// strides, and with them the sizes, are fixed.
#pragma once

#include <optional>

#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

struct InputLayout {
  std::optional<Dims> order;  // of a dense input: its dimensions, slowest first
  Dims strides;               // of another
};

InputLayout layout_of(const Tensor& x);
// Strides of dimensions of size one do not count. O(rank).
bool lies_like(const Tensor& x, const InputLayout& layout);
// The strides that `layout` gives to these sizes.
Dims strides_for(const InputLayout& layout, const Dims& shape);

}  // namespace epi::compiler
