// SPDX-License-Identifier: Apache-2.0
// One GEMM, with its operands in the form that the kernels expect, and its three implementations.
#pragma once

#include <cstdint>

#include "epilogue/tensor/matrix.h"

namespace epi::cpu {

// out[m, n] = alpha * a[m, k] @ b[k, n] + beta * self; `out` is row-major.
struct Gemm {
  DType dtype = DType::kF32;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  Matrix a;
  Matrix b;
  std::byte* out = nullptr;
  int64_t ld_out = 0;
  double alpha = 1;
  // The added operand, broadcast with zero strides, or null.
  const std::byte* self = nullptr;
  int64_t self_row_stride = 0;
  int64_t self_column_stride = 0;
  double beta = 0;
};

// Up to this many rows, stream the weights instead of calling a GEMM (loops/gemv_loops.cpp gives
// the reason).
inline constexpr int64_t kGemvRows = 4;

// gemm_blas.cpp: f32 and f64, with OpenBLAS on every core.
void gemm_blas(const Gemm& p);
// gemm_half.cpp: bf16 and f16, panels converted to f32 in the cache.
void gemm_half(const Gemm& p);
// gemv.cpp: f32, bf16 and f16 with m <= kGemvRows.
void gemv(const Gemm& p);

// Writes beta * self for the block [row, row + rows) x [column, column + columns) to `to`, as f32
// or f64 (`T`), with row stride `ld`.
template <typename T>
void write_self(const Gemm& p, int64_t row, int64_t rows, int64_t column, int64_t columns, T* to,
                int64_t ld);

}  // namespace epi::cpu
