// SPDX-License-Identifier: Apache-2.0
// GEMMs by cuBLASLt. A plan (descriptors, algorithm, workspace) is made once for each
// shape, layout, epilogue and alignment, and used again.
#pragma once

#include <cstdint>

#include "epilogue/tensor/matrix.h"

namespace epi::cuda {

enum class Activation : uint8_t { kNone, kRelu, kGeluTanh };
// cuBLASLt's gelu takes tanh from the special-function unit, which holds 2^-11 of one: gelu(x) is
// right to 2^-12 |x|, for bf16 an eighth of a rounding of the sum, for other dtypes more than one.
// (Far below zero, where gelu vanishes, that is more than the error of rounding the sum.)
constexpr bool is_exact(Activation activation, DType dtype) {
  return activation != Activation::kGeluTanh || dtype == DType::kBF16;
}

// out[m, n] = activation(alpha * a[m, k] @ b[k, n] + beta * c + bias), row-major; f64, f32, bf16 or
// f16, summed in f32 (f64 for f64). All sizes are at least one.
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
  const std::byte* c = nullptr;  // null: nothing is added
  int64_t ld_c = 0;
  double beta = 0;
  const std::byte* bias = nullptr;  // n elements, the same for every row; null: none
  Activation activation = Activation::kNone;
  // Of a batch of GEMMs, how far apart they are.
  int64_t batch = 1;
  int64_t stride_a = 0;
  int64_t stride_b = 0;
  int64_t stride_out = 0;
};

// How a GEMM adds what addmm is given, whose strides in the shape of the output are these.
enum class Addend : uint8_t {
  kBias,    // in the epilogue, where its address is aligned, too: `is_aligned_bias`
  kMatrix,  // read in place, as c
  kCopy,    // copied into the output first
};
// An epilogue reads its bias in vectors of this many bytes. Where rows are not whole vectors,
// cuBLASLt 13.0 rounds a bf16 GEMM before it adds the bias: then its epilogue is not exact.
inline constexpr int64_t kBiasVectorBytes = 16;
inline Addend addend_of(const Dims& strides, double beta, const Gemm& gemm) {
  const int64_t element = size_bytes(gemm.dtype);
  const bool whole_vectors =
      gemm.dtype != DType::kBF16 ||
      (gemm.n * element % kBiasVectorBytes == 0 && gemm.k * element % kBiasVectorBytes == 0);
  if (beta == 1 && strides[0] == 0 && strides[1] == 1 && whole_vectors) return Addend::kBias;
  const bool is_matrix = (strides[1] == 1 || gemm.n == 1) && strides[0] >= gemm.n;
  return is_matrix ? Addend::kMatrix : Addend::kCopy;
}
inline bool is_aligned_bias(const std::byte* bias) {
  return reinterpret_cast<uintptr_t>(bias) % kBiasVectorBytes == 0;
}

// Starts the GEMM on the device's current stream; false, and nothing started, where cuBLASLt has
// no algorithm for it (an epilogue that it lacks for the dtype).
bool try_gemm(const Gemm& gemm, int device);

}  // namespace epi::cuda
