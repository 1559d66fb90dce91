// SPDX-License-Identifier: Apache-2.0
// The smallest thing a GPU can be given to do.
#pragma once

#include <cuda_runtime_api.h>

namespace epi::bench {

// Returns once it is in the queue.
cudaError_t launch_empty_kernel(cudaStream_t stream);

}  // namespace epi::bench
