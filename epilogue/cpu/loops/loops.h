// SPDX-License-Identifier: Apache-2.0
// The inner loops. Only the files of this folder are compiled once per instruction set, with
// EPI_ISA as their namespace. All other code calls them through this table. Strides count elements.
// Loops are single-threaded: the caller splits the work.
#pragma once

#include <array>
#include <cstdint>

#include "epilogue/pointwise/table.h"
#include "epilogue/tensor/dtype.h"

namespace epi::cpu {

// out[i] = x[i], converted.
using ConvertLoop = void (*)(const void* x, int64_t x_stride, void* out, int64_t out_stride,
                             int64_t count);
// The non-tensor arguments of a pointwise operator, not rounded to the tensor's dtype.
struct PointwiseScalars {
  double other = 0;  // the second operand if `b` is null
  std::array<double, pointwise::kMaxScalars> scalars{};
};
// out[i] = f(a[i], b[i], scalars...). `b` is null if the function takes one input or its second
// operand is a number.
using PointwiseLoop = void (*)(const void* a, int64_t a_stride, const void* b, int64_t b_stride,
                               void* out, int64_t out_stride, int64_t count,
                               const PointwiseScalars& numbers);

// Loops over rows in the compute type: float for f32, bf16 and f16, double for f64.
template <typename T>
struct RowLoops {
  void (*softmax)(const T* x, T* out, int64_t count);
  // weight and bias may be null.
  void (*layer_norm)(const T* x, const T* weight, const T* bias, T* out, int64_t count, T eps);
  void (*rms_norm)(const T* x, const T* weight, T* out, int64_t count, T eps);
  // Sums are kept in double for every T.
  double (*sum)(const T* x, int64_t count);
  void (*accumulate)(const T* x, double* sums, int64_t count);
  // Returns NaN if x contains one. `count` is at least 1.
  T (*max)(const T* x, int64_t count);
  void (*accumulate_max)(const T* x, T* maxima, int64_t count);
};

// GEMMs of few rows that stream the weights once. `x` is row-major [rows, k], rows <= 4. `sums` is
// f32 [rows, n] with a row stride.
struct GemvLoops {
  DType x_dtype;  // of the x that `rows` takes
  // Weights [n, k], rows contiguous, `ld` apart: sums[r][j] = x[r] . w[j].
  void (*rows)(const void* x, int64_t rows, int64_t k, const void* w, int64_t ld, int64_t n,
               float* sums, int64_t sums_stride);
  // Weights [k, n], rows contiguous, `ld` apart. `x` is f32.
  void (*columns)(const float* x, int64_t rows, int64_t k, const void* w, int64_t ld, int64_t n,
                  float* sums, int64_t sums_stride);
};

// GEMMs with int8 weights. Groups of 32 elements along k share a scale.
struct Int8Loops {
  // x[i] is about scales[i / 32] * quantized[i]. The last group is padded with zeros.
  void (*quantize)(const float* x, int64_t k, int8_t* quantized, float* scales);
  // sums[j] = sum over k of x[k] * w[j][k] * scale, for `n` rows of weights, `ld` apart, each with
  // one scale (`groups` is 1) or one per group. `dot` takes an x that `quantize` has quantized.
  void (*dot)(const int8_t* x, const float* x_scales, int64_t k, const int8_t* w, int64_t ld,
              int64_t n, const float* scales, int64_t groups, float* sums);
  void (*dot_float)(const float* x, int64_t k, const int8_t* w, int64_t ld, int64_t n,
                    const float* scales, int64_t groups, float* sums);
};

struct Loops {
  PointwiseLoop pointwise[pointwise::kFunctionCount]
                         [kDTypeCount];           // null if the dtype is not supported
  ConvertLoop convert[kDTypeCount][kDTypeCount];  // [from][to]; [t][t] copies
  RowLoops<float> rows_f32;
  RowLoops<double> rows_f64;
  GemvLoops gemv[kDTypeCount];  // f32, bf16, f16
  Int8Loops int8;
};

// The table for the instruction set of this CPU.
const Loops& loops();

inline ConvertLoop converter(DType from, DType to) {
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
