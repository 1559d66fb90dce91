// SPDX-License-Identifier: Apache-2.0
// The first kernel of the CUDA backend: it proves the toolchain, and the grid-stride form that the
// pointwise kernels take.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace epi::cuda {

// out[i] = scale * x[i] for device pointers, on `stream`; returns the launch's error.
cudaError_t scale_f32(const float* x, float scale, float* out, int64_t count, cudaStream_t stream);

}  // namespace epi::cuda
