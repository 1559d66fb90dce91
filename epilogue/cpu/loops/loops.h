// SPDX-License-Identifier: Apache-2.0
// The inner loops: the only code that is compiled once for each instruction set (the files of this
// folder, with EPI_ISA as their namespace). Everything else calls them through this table.
// Strides count elements. Loops are single-threaded; whoever calls them splits the work.
#pragma once

#include <cstdint>

#include "epilogue/tensor/dtype.h"

namespace epi::cpu {

enum class Unary : uint8_t { kExp, kGelu, kGeluTanh, kNeg, kRelu, kSigmoid, kSilu, kTanh };
inline constexpr int kUnaryCount = 8;
enum class Binary : uint8_t { kAdd, kSub, kMul, kDiv };
inline constexpr int kBinaryCount = 4;

// out[i] = f(x[i]).
using UnaryLoop = void (*)(const void* x, int64_t x_stride, void* out, int64_t out_stride,
                           int64_t count);
// What a binary op has beside its tensors. Scalars are not rounded to the tensor's dtype.
struct BinaryScalars {
  double alpha = 1;  // multiplies the second operand in add and sub
  double other = 0;  // the second operand where `b` is null
};
// out[i] = f(a[i], b[i]).
using BinaryLoop = void (*)(const void* a, int64_t a_stride, const void* b, int64_t b_stride,
                            void* out, int64_t out_stride, int64_t count, BinaryScalars scalars);

// Loops over rows in the type that is computed in: float for f32, bf16 and f16; double for f64.
template <typename T>
struct RowLoops {
  void (*softmax)(const T* x, T* out, int64_t count);
  // weight and bias may be null.
  void (*layer_norm)(const T* x, const T* weight, const T* bias, T* out, int64_t count, T eps);
  void (*rms_norm)(const T* x, const T* weight, T* out, int64_t count, T eps);
  // Sums are kept in double whatever T is.
  double (*sum)(const T* x, int64_t count);
  void (*accumulate)(const T* x, double* sums, int64_t count);
  // NaN where x has one. `count` is at least 1.
  T (*max)(const T* x, int64_t count);
  void (*accumulate_max)(const T* x, T* maxima, int64_t count);
};

// Products of few rows, the weights streamed once. `x` is f32, row-major [rows, k], rows <= 4;
// `sums` is f32 [rows, n] with a row stride.
struct GemvLoops {
  // Weights [n, k], rows contiguous, `ld` apart: sums[r][j] = x[r] . w[j].
  void (*rows)(const float* x, int64_t rows, int64_t k, const void* w, int64_t ld, int64_t n,
               float* sums, int64_t sums_stride);
  // Weights [k, n], rows contiguous, `ld` apart.
  void (*columns)(const float* x, int64_t rows, int64_t k, const void* w, int64_t ld, int64_t n,
                  float* sums, int64_t sums_stride);
};

struct Loops {
  UnaryLoop unary[kUnaryCount][kDTypeCount];     // null where the dtype has none
  BinaryLoop binary[kBinaryCount][kDTypeCount];  // likewise
  UnaryLoop convert[kDTypeCount][kDTypeCount];   // [from][to]; [t][t] copies
  RowLoops<float> rows_f32;
  RowLoops<double> rows_f64;
  GemvLoops gemv[kDTypeCount];  // f32, bf16, f16
};

// The table for the CPU at hand.
const Loops& loops();

inline UnaryLoop converter(DType from, DType to) {
  return loops().convert[static_cast<int>(from)][static_cast<int>(to)];
}

template <typename T>
const RowLoops<T>& row_loops() {
  if constexpr (sizeof(T) == 4) {
    return loops().rows_f32;
  } else {
    return loops().rows_f64;
  }
}

}  // namespace epi::cpu
