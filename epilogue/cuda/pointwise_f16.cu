// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/pointwise_functions.cuh"

namespace epi::cuda {

void launch_f16(pointwise::Function function, const StridedShape& shape,
                const PointwiseScalars& numbers, cudaStream_t stream) {
  launch_for_type<f16>(function, shape, numbers, stream);
}

}  // namespace epi::cuda
