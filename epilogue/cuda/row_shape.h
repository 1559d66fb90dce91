// SPDX-License-Identifier: Apache-2.0
// The rows that softmax and the norms work on, as plain numbers.
#pragma once

#include "epilogue/cuda/strided_shape.h"

namespace epi::cuda {

struct RowShape {
  StridedShape rows;        // the other dimensions: output and input; fewer than 2^31 rows
  int64_t count = 0;        // elements of a row
  int64_t strides[2] = {};  // along a row: of the output, of the input
};

}  // namespace epi::cuda
