// SPDX-License-Identifier: Apache-2.0
// The operands of gather and index_select, and the result of argmax and topk, as plain structs.
#pragma once

#include "epilogue/cuda/strided_shape.h"

namespace epi::cuda {

// Operands are the output, the input, which has stride 0 along the indexed dimension, and the
// index (ops/indexed.h).
struct IndexShape {
  StridedShape operands;
  int64_t stride = 0;  // of the input along the indexed dimension
  int64_t size = 0;    // indices are below it
};

// The indices that rank the elements of rows. Operand 0 of the RowShape holds them.
struct Ranking {
  int64_t count = 1;   // indices per row
  int64_t stride = 1;  // along a row
  bool largest = true;
};

}  // namespace epi::cuda
