// SPDX-License-Identifier: Apache-2.0
// The memory layout of an input of a captured function. If the input is dense, in any order of its
// dimensions, its strides follow from its sizes, which may then be dynamic. Otherwise the strides,
// and with them the sizes, are fixed.
#pragma once

#include <optional>

#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

struct InputLayout {
  std::optional<Dims> order;  // of a dense input: its dimensions, slowest first
  Dims strides;               // of any other input
};

InputLayout layout_of(const Tensor& x);
// Ignores the strides of dimensions of size one. O(rank).
bool matches_layout(const Tensor& x, const InputLayout& layout);
// The strides of a tensor with this layout and these sizes.
Dims strides_for(const InputLayout& layout, const Dims& shape);

}  // namespace epi::compiler
