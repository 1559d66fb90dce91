// SPDX-License-Identifier: Apache-2.0
// Converts CUDA error codes to failures that name the call.
#pragma once

#include <cuda_runtime_api.h>

#include "epilogue/base/error.h"
#include "epilogue/base/result.h"

namespace epi::cuda {

// `call` names the call in the message, for example "cudaMalloc of 4096 bytes".
inline Result<void> to_result(cudaError_t code, std::string_view call) {
  if (code == cudaSuccess) return {};
  cudaGetLastError();  // clears the error so that a later check does not report it again
  return failure("{}: {} ({})", call, cudaGetErrorString(code), cudaGetErrorName(code));
}

// Throws the failure as `Error`. Used inside operators.
inline void check(cudaError_t code, std::string_view call) {
  if (code == cudaSuccess) [[likely]]
    return;
  fail("cuda", "{}", to_result(code, call).error().message);
}

}  // namespace epi::cuda
