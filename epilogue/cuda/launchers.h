// SPDX-License-Identifier: Apache-2.0
// What the CUDA sources offer to the C++20 side: one function an operator, which picks the kernel
// by dtype and layout and starts it on `stream`. cudaGetLastError says whether that worked.
#pragma once

#include <cuda_runtime_api.h>

#include <array>

#include "epilogue/cuda/reduction_shape.h"
#include "epilogue/cuda/row_shape.h"
#include "epilogue/cuda/strided_shape.h"
#include "epilogue/pointwise/table.h"
#include "epilogue/tensor/dtype_enum.h"

namespace epi::cuda {

// probe.cu: whether the build has code that the current device can run.
cudaError_t find_device_code();

// What a pointwise function has beside its tensors.
struct PointwiseNumbers {
  double other = 0;  // the second operand where the shape has one input
  std::array<double, pointwise::kMaxScalars> scalars{};
};
// pointwise_f32.cu and its like, one for each element type. Operands 1 and 2 are the inputs.
using PointwiseLauncher = void (*)(pointwise::Function, const StridedShape&,
                                   const PointwiseNumbers&, cudaStream_t);
void launch_bf16(pointwise::Function function, const StridedShape& shape,
                 const PointwiseNumbers& numbers, cudaStream_t stream);
void launch_f16(pointwise::Function function, const StridedShape& shape,
                const PointwiseNumbers& numbers, cudaStream_t stream);
void launch_f32(pointwise::Function function, const StridedShape& shape,
                const PointwiseNumbers& numbers, cudaStream_t stream);
void launch_f64(pointwise::Function function, const StridedShape& shape,
                const PointwiseNumbers& numbers, cudaStream_t stream);
void launch_i32(pointwise::Function function, const StridedShape& shape,
                const PointwiseNumbers& numbers, cudaStream_t stream);
void launch_i64(pointwise::Function function, const StridedShape& shape,
                const PointwiseNumbers& numbers, cudaStream_t stream);

// copy.cu: operand 1 of dtype `from` into the output of dtype `to`.
void launch_copy(DType from, DType to, const StridedShape& shape, cudaStream_t stream);

void launch_softmax(DType dtype, const RowShape& rows, cudaStream_t stream);
// `weight` and `bias` are dense, or null.
struct NormParameters {
  const void* weight = nullptr;
  const void* bias = nullptr;
  double eps = 0;
};
void launch_layer_norm(DType dtype, const RowShape& rows, NormParameters parameters,
                       cudaStream_t stream);
void launch_rms_norm(DType dtype, const RowShape& rows, NormParameters parameters,
                     cudaStream_t stream);

// `dtype` is the input's; sums of integers and bool are i64.
void launch_amax(DType dtype, const ReductionShape& shape, cudaStream_t stream);
void launch_mean(DType dtype, const ReductionShape& shape, cudaStream_t stream);
void launch_sum(DType dtype, const ReductionShape& shape, cudaStream_t stream);

}  // namespace epi::cuda
