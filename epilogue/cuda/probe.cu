// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/launchers.h"

namespace epi::cuda {

__global__ void probe() {}

cudaError_t find_device_code() {
  cudaFuncAttributes attributes;
  return cudaFuncGetAttributes(&attributes, probe);
}

}  // namespace epi::cuda
