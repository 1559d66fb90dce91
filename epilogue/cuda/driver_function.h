// SPDX-License-Identifier: Apache-2.0
// Functions of the driver API, found through the runtime instead of linking libcuda, which machines
// without a GPU lack.
#pragma once

#include <cuda_runtime_api.h>

#include "epilogue/cuda/cuda_error.h"

namespace epi::cuda {

// `version` is the CUDA version that introduced the function, for example 12040. Usage:
// driver_function<decltype(&cuKernelGetParamInfo)>("cuKernelGetParamInfo", 12040).
template <typename F>
F driver_function(const char* name, unsigned version) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableDefault, &found),
        "cudaGetDriverEntryPointByVersion");
  if (found != cudaDriverEntryPointSuccess) {
    fail("cuda", "the driver does not provide {} (CUDA {}.{})", name, version / 1000,
         version % 1000 / 10);
  }
  return reinterpret_cast<F>(function);
}

}  // namespace epi::cuda
