// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/gpu/tensor_map.h"

#include <cuda.h>

#include "epilogue/cuda/driver_function.h"

namespace epi::compiler {
namespace {

constexpr int64_t kMapAlignment = 16;

}  // namespace

bool fits_tensor_map(const MapMatrix& matrix) {
  const int64_t row_bytes = matrix.row_stride * size_bytes(matrix.dtype);
  return reinterpret_cast<uintptr_t>(matrix.data) % kMapAlignment == 0 &&
         row_bytes % kMapAlignment == 0 && matrix.row_stride >= matrix.columns;
}

TensorMap make_tensor_map(const MapMatrix& matrix, int box_rows, int box_columns) {
  static const auto encode =
      cuda::driver_function<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled", 12000);
  static_assert(sizeof(TensorMap) == sizeof(CUtensorMap));
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(matrix.columns),
                              static_cast<cuuint64_t>(matrix.rows)};
  const cuuint64_t strides[] = {
      static_cast<cuuint64_t>(matrix.row_stride * size_bytes(matrix.dtype))};
  const cuuint32_t box[] = {static_cast<cuuint32_t>(box_columns),
                            static_cast<cuuint32_t>(box_rows)};
  const cuuint32_t steps[] = {1, 1};
  const auto type = matrix.dtype == DType::kF16 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  TensorMap map;
  const CUresult result =
      encode(reinterpret_cast<CUtensorMap*>(&map), type, 2, const_cast<std::byte*>(matrix.data),
             sizes, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
             box_columns == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    fail("cuda",
         "cuTensorMapEncodeTiled failed for {} rows by {} columns with row stride {}: error {}",
         matrix.rows, matrix.columns, matrix.row_stride, static_cast<int>(result));
  }
  return map;
}

}  // namespace epi::compiler
