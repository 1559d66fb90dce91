// SPDX-License-Identifier: Apache-2.0
// The interface of the CUDA sources to the C++20 code: one function per operator, which selects the
// kernel by dtype and layout and launches it on `stream`. The caller checks cudaGetLastError.
#pragma once

#include <cuda_runtime_api.h>

#include <array>

#include "epilogue/cuda/index_shape.h"
#include "epilogue/cuda/reduction_shape.h"
#include "epilogue/cuda/row_shape.h"
#include "epilogue/cuda/strided_shape.h"
#include "epilogue/pointwise/table.h"
#include "epilogue/tensor/dtype_enum.h"

namespace epi::cuda {

// probe.cu: succeeds if the build contains code for the current device.
cudaError_t find_device_code();

// The scalar arguments of a pointwise function.
struct PointwiseScalars {
  double other = 0;  // the second operand of a binary function if the shape has one input
  std::array<double, pointwise::kMaxScalars> scalars{};
};
// pointwise_<dtype>.cu, one per element type. Operands 1 and 2 are the inputs.
using PointwiseLauncher = void (*)(pointwise::Function, const StridedShape&,
                                   const PointwiseScalars&, cudaStream_t);
void launch_bf16(pointwise::Function function, const StridedShape& shape,
                 const PointwiseScalars& numbers, cudaStream_t stream);
void launch_f16(pointwise::Function function, const StridedShape& shape,
                const PointwiseScalars& numbers, cudaStream_t stream);
void launch_f32(pointwise::Function function, const StridedShape& shape,
                const PointwiseScalars& numbers, cudaStream_t stream);
void launch_f64(pointwise::Function function, const StridedShape& shape,
                const PointwiseScalars& numbers, cudaStream_t stream);
void launch_i32(pointwise::Function function, const StridedShape& shape,
                const PointwiseScalars& numbers, cudaStream_t stream);
void launch_i64(pointwise::Function function, const StridedShape& shape,
                const PointwiseScalars& numbers, cudaStream_t stream);

// copy.cu: copies operand 1 of dtype `from` to the output of dtype `to`.
void launch_copy(DType from, DType to, const StridedShape& shape, cudaStream_t stream);

// where.cu: operands are the output, the condition and the two choices. A number is stored in
// `numbers` as an element of the output's dtype, and its data is null.
struct ChoiceNumbers {
  uint64_t bits[2] = {};
};
void launch_where(const ChoiceShape& shape, const ChoiceNumbers& numbers, cudaStream_t stream);
// index.cu
void launch_gather(const IndexShape& shape, cudaStream_t stream);
void launch_index_select(const IndexShape& shape, cudaStream_t stream);
// rank.cu: `dtype` is that of the input. The output is i64.
void launch_argmax(DType dtype, const RowShape& rows, const Ranking& ranking, cudaStream_t stream);
void launch_topk(DType dtype, const RowShape& rows, const Ranking& ranking, cudaStream_t stream);

void launch_softmax(DType dtype, const RowShape& rows, cudaStream_t stream);
void launch_safe_softmax(DType dtype, const RowShape& rows, cudaStream_t stream);
// `period` is the number of rows of one matrix. Rows are counted in row-major order.
void launch_causal_softmax(DType dtype, const RowShape& rows, int64_t period, cudaStream_t stream);
// `weight` and `bias` are contiguous or null.
struct NormParameters {
  const void* weight = nullptr;
  const void* bias = nullptr;
  double eps = 0;
};
void launch_layer_norm(DType dtype, const RowShape& rows, NormParameters parameters,
                       cudaStream_t stream);
void launch_rms_norm(DType dtype, const RowShape& rows, NormParameters parameters,
                     cudaStream_t stream);

// `dtype` is the dtype of the input. Sums of integers and bool are i64.
void launch_amax(DType dtype, const ReductionShape& shape, cudaStream_t stream);
void launch_mean(DType dtype, const ReductionShape& shape, cudaStream_t stream);
void launch_sum(DType dtype, const ReductionShape& shape, cudaStream_t stream);

}  // namespace epi::cuda
