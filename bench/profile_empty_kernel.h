// SPDX-License-Identifier: Apache-2.0
// The smallest amount of GPU work: an empty kernel.
#pragma once

#include <cuda_runtime_api.h>

namespace epi::bench {

// Returns once the kernel is enqueued.
cudaError_t launch_empty_kernel(cudaStream_t stream);

}  // namespace epi::bench
