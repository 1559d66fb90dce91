// SPDX-License-Identifier: Apache-2.0
// Entry point of the CUDA backend. Call it before creating the first tensor on a GPU; further calls
// do nothing. It loads the driver; cuBLASLt is loaded by the first GEMM. Needs no CUDA header.
#pragma once

#include "epilogue/base/result.h"

namespace epi {

// A failure names the call and the reason: no driver, no device, or a build without CUDA.
Result<void> register_cuda_backend();

}  // namespace epi
