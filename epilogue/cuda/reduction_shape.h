// SPDX-License-Identifier: Apache-2.0
// The dimensions of a reduction in two groups, as plain numbers.
#pragma once

#include "epilogue/cuda/strided_shape.h"

namespace epi::cuda {

struct ReductionDims {
  int rank = 0;
  int64_t count = 1;
  int64_t shape[kMaxDims] = {};
  int64_t strides[kMaxDims] = {};  // of the input, in elements
};

// A reduction is cut into `splits` parts, which meet in `partials` (8 bytes for each output and
// part) and a second kernel, where there are too few outputs to fill the device.
struct ReductionShape {
  const char* x = nullptr;
  char* out = nullptr;  // dense, in the order of the kept dimensions
  ReductionDims kept;
  ReductionDims reduced;
  bool side_by_side = false;  // neighbouring threads take neighbouring outputs, not terms
  int64_t splits = 1;
  void* partials = nullptr;
};

}  // namespace epi::cuda
