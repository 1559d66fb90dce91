// SPDX-License-Identifier: Apache-2.0
// CUDA's return codes as failures that name the call.
#pragma once

#include <cuda_runtime_api.h>

#include "epilogue/base/result.h"

namespace epi::cuda {

// `call` is what was called, for the message: "cudaMalloc of 4096 bytes".
inline Result<void> to_result(cudaError_t code, std::string_view call) {
  if (code == cudaSuccess) return {};
  return failure("{}: {} ({})", call, cudaGetErrorString(code), cudaGetErrorName(code));
}

}  // namespace epi::cuda
