// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/gpu/rows_for_copies.h"

#include <cuda_runtime_api.h>

#include "epilogue/cuda/cuda_error.h"

namespace epi::compiler {

RowsForCopies::RowsForCopies(const MapMatrix& rows, int device, CUstream_st* stream) : rows_(rows) {
  if (fits_tensor_map(rows)) return;
  const auto width = static_cast<size_t>(rows.columns * size_bytes(rows.dtype));
  const auto pitch = static_cast<size_t>(rows.row_stride * size_bytes(rows.dtype));
  copy_.emplace(device, static_cast<int64_t>(width) * rows.rows);
  cuda::check(cudaMemcpy2DAsync(copy_->data(), width, rows.data, pitch, width,
                                static_cast<size_t>(rows.rows), cudaMemcpyDeviceToDevice, stream),
              "cudaMemcpy2DAsync");
  rows_.data = static_cast<const std::byte*>(copy_->data());
  rows_.row_stride = rows.columns;
}

}  // namespace epi::compiler
