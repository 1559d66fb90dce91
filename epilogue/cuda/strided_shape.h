// SPDX-License-Identifier: Apache-2.0
// The operands of a pointwise kernel as plain numbers: what passes from the C++20 side, which knows
// tensors, to the CUDA sources, which do not.
#pragma once

#include <cstdint>

namespace epi::cuda {

inline constexpr int kMostDims = 8;
inline constexpr int kMostOperands = 3;

// Operand 0 is the output. Dimensions are merged, the output's fastest last; strides count
// elements.
struct StridedShape {
  int rank = 0;
  int operands = 0;
  int64_t shape[kMostDims] = {};
  char* data[kMostOperands] = {};
  int64_t strides[kMostOperands][kMostDims] = {};
  int element_bytes[kMostOperands] = {};
};

}  // namespace epi::cuda
