// SPDX-License-Identifier: Apache-2.0
// CUDA's return codes as failures that name the call.
#pragma once

#include <cuda_runtime_api.h>

#include "epilogue/base/error.h"
#include "epilogue/base/result.h"

namespace epi::cuda {

// `call` is what was called, for the message: "cudaMalloc of 4096 bytes".
inline Result<void> to_result(cudaError_t code, std::string_view call) {
  if (code == cudaSuccess) return {};
  cudaGetLastError();  // or the next call that asks for it would be told of this one
  return failure("{}: {} ({})", call, cudaGetErrorString(code), cudaGetErrorName(code));
}

// The same, thrown as `Error`: for calls in the middle of an operator.
inline void check(cudaError_t code, std::string_view call) {
  if (code == cudaSuccess) [[likely]]
    return;
  fail("cuda", "{}", to_result(code, call).error().message);
}

}  // namespace epi::cuda
