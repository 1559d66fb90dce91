// SPDX-License-Identifier: Apache-2.0
// One GEMM, its operands as the kernels want them, and the three ways to compute it.
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
  // The added operand, broadcast by zero strides; null where there is none.
  const std::byte* self = nullptr;
  int64_t self_row_stride = 0;
  int64_t self_column_stride = 0;
  double beta = 0;
};

// At most this many rows stream the weights instead of calling a GEMM (loops/gemv.cpp says why).
inline constexpr int64_t kGemvRows = 4;

// gemm_blas.cpp: f32 and f64, by OpenBLAS on every core.
void gemm_blas(const Gemm& p);
// gemm_half.cpp: bf16 and f16, panels converted to f32 in the cache.
void gemm_half(const Gemm& p);
// gemv.cpp: f32, bf16 and f16 with m <= kGemvRows.
void gemv(const Gemm& p);

// Writes beta * self for rows and columns [row, row + rows) x [column, column + columns) as f32 or
// f64 (`T`) into `to`, whose rows are `ld` apart.
template <typename T>
void write_self(const Gemm& p, int64_t row, int64_t rows, int64_t column, int64_t columns, T* to,
                int64_t ld);

}  // namespace epi::cpu
