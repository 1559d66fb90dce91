// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/pointwise_functions.cuh"

namespace epi::cuda {

void launch_i64(pointwise::Function function, const StridedShape& shape,
                const PointwiseScalars& numbers, cudaStream_t stream) {
  launch_for_type<int64_t>(function, shape, numbers, stream);
}

}  // namespace epi::cuda
