// SPDX-License-Identifier: Apache-2.0
// Rows of a matrix that kernels can copy 16 bytes at a time.
#pragma once

#include <optional>

#include "epilogue/compiler/gpu/tensor_map.h"
#include "epilogue/cuda/allocator.h"

struct CUstream_st;

namespace epi::compiler {

// The rows in place, or a dense copy if their addresses are not multiples of 16 bytes. The copy is
// valid for work on the stream that is launched while this object lives.
class RowsForCopies {
 public:
  RowsForCopies(const MapMatrix& rows, int device, CUstream_st* stream);
  const MapMatrix& get() const { return rows_; }

 private:
  MapMatrix rows_;
  std::optional<cuda::Scratch> copy_;
};

}  // namespace epi::compiler
