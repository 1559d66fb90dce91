// SPDX-License-Identifier: Apache-2.0
// Reads a CUDA device attribute.
#pragma once

#include "epilogue/cuda/cuda_error.h"

namespace epi::cuda {

inline int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace epi::cuda
