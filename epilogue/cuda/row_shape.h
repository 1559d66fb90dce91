// SPDX-License-Identifier: Apache-2.0
// The rows that softmax and the norms process, as a plain struct.
#pragma once

#include "epilogue/cuda/strided_shape.h"

namespace epi::cuda {

struct RowShape {
  StridedShape rows;        // remaining dimensions of output and input; fewer than 2^31 rows
  int64_t count = 0;        // elements per row
  int64_t strides[2] = {};  // stride along a row in the output and in the input
};

}  // namespace epi::cuda
