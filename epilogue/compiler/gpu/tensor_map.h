// SPDX-License-Identifier: Apache-2.0
// A TMA descriptor of a matrix, as written by cuTensorMapEncodeTiled: 128 bytes that a kernel
// receives by value.
#pragma once

#include <cstddef>
#include <cstdint>

#include "epilogue/tensor/dtype.h"

namespace epi::compiler {

struct alignas(64) TensorMap {
  uint64_t words[16];
};

// Two-byte elements, dense within a row. The address and the row stride are multiples of 16 bytes
// (`fits_tensor_map`).
struct MapMatrix {
  const std::byte* data = nullptr;
  DType dtype = DType::kBF16;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t row_stride = 0;
};
bool fits_tensor_map(const MapMatrix& matrix);

// Describes copies in boxes of rows by columns (64 or 32), swizzled over a row of the box. Elements
// outside the matrix are read as zero and not written.
TensorMap make_tensor_map(const MapMatrix& matrix, int box_rows, int box_columns);

}  // namespace epi::compiler
