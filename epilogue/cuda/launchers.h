// SPDX-License-Identifier: Apache-2.0
// What the CUDA sources offer to the C++20 side: one function an operator, which picks the kernel
// by dtype and layout and starts it on `stream`. cudaGetLastError says whether that worked.
#pragma once

#include <cuda_runtime_api.h>

#include "epilogue/cuda/reduction_shape.h"
#include "epilogue/cuda/row_shape.h"
#include "epilogue/cuda/strided_shape.h"
#include "epilogue/tensor/dtype_enum.h"

namespace epi::cuda {

// probe.cu: whether the build has code that the current device can run.
cudaError_t find_device_code();

// One file each, named after the operator. Operand 1 is the input.
void launch_exp(DType dtype, const StridedShape& shape, cudaStream_t stream);
void launch_gelu(DType dtype, const StridedShape& shape, cudaStream_t stream);
void launch_gelu_tanh(DType dtype, const StridedShape& shape, cudaStream_t stream);
void launch_neg(DType dtype, const StridedShape& shape, cudaStream_t stream);
void launch_relu(DType dtype, const StridedShape& shape, cudaStream_t stream);
void launch_sigmoid(DType dtype, const StridedShape& shape, cudaStream_t stream);
void launch_silu(DType dtype, const StridedShape& shape, cudaStream_t stream);
void launch_tanh(DType dtype, const StridedShape& shape, cudaStream_t stream);

// Operands 1 and 2 are the inputs; with one input, `other` is the second.
struct Scalars {
  double alpha = 1;
  double other = 0;
};
void launch_add(DType dtype, const StridedShape& shape, Scalars scalars, cudaStream_t stream);
void launch_div(DType dtype, const StridedShape& shape, Scalars scalars, cudaStream_t stream);
void launch_mul(DType dtype, const StridedShape& shape, Scalars scalars, cudaStream_t stream);
void launch_sub(DType dtype, const StridedShape& shape, Scalars scalars, cudaStream_t stream);

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
