// SPDX-License-Identifier: Apache-2.0
// index_select and gather as backends see them: one walk over the output, in which the index
// broadcasts and the input has no extent along the indexed dimension.
#pragma once

#include <string_view>

#include "epilogue/ops/args.h"

namespace epi {

struct Indexed {
  // out[i] = x[i + index[i] * stride] for offsets i in each operand.
  Tensor x;      // with the output's shape and stride 0 along the indexed dimension
  Tensor index;  // with the output's shape
  int64_t stride = 0;
  int64_t size = 0;  // indices are below it
};
// The arguments are the input, the dimension and the index.
Indexed as_indexed(std::string_view op, Args args, const Tensor& out);

}  // namespace epi
