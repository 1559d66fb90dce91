// SPDX-License-Identifier: Apache-2.0
// How Hopper's copy engine sees a matrix: what cuTensorMapEncodeTiled writes, 128 bytes that a
// kernel is given by value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "epilogue/tensor/dtype.h"

namespace epi::compiler {

struct alignas(64) TensorMap {
  uint64_t words[16];
};

// Elements of two bytes, dense within a row; the address and the row stride are multiples of 16
// bytes: `fits_tensor_map`.
struct MapMatrix {
  const std::byte* data = nullptr;
  DType dtype = DType::kBF16;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_stride = 0;
};
bool fits_tensor_map(const MapMatrix& matrix);

// Copied in boxes of rows by columns (64, or 32), swizzled over a row of a box. What lies outside
// of the matrix is read as zero, and not written.
TensorMap make_tensor_map(const MapMatrix& matrix, int box_rows, int box_columns);

}  // namespace epi::compiler
