// SPDX-License-Identifier: Apache-2.0
// The operands of a reduction as a plain struct: kept and reduced dimensions.
#pragma once

#include "epilogue/cuda/strided_shape.h"

namespace epi::cuda {

struct ReductionDims {
  int rank = 0;
  int64_t count = 1;
  int64_t shape[kMaxDims] = {};
  int64_t strides[kMaxDims] = {};  // of the input, in elements
};

// If there are too few outputs to fill the device, the reduction is split into `splits` parts. They
// write to `partials` (8 bytes per output and part), and a second kernel combines them.
struct ReductionShape {
  const char* x = nullptr;
  char* out = nullptr;  // contiguous, in the order of the kept dimensions
  ReductionDims kept;
  ReductionDims reduced;
  bool columnwise = false;  // adjacent threads take adjacent outputs, not adjacent terms
  int64_t splits = 1;
  void* partials = nullptr;
};

}  // namespace epi::cuda
