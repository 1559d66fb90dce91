// SPDX-License-Identifier: Apache-2.0
// The CUDA backend's entry: call it once, before the first tensor on a GPU; calling it again does
// nothing. The driver is loaded here, cuBLASLt at the first GEMM. No CUDA header is needed.
#pragma once

#include "epilogue/base/result.h"

namespace epi {

// A failure names the call and its reason: no driver, no device, a build without CUDA.
Result<void> register_cuda_backend();

}  // namespace epi
