// SPDX-License-Identifier: Apache-2.0
// GEMMs on cuBLASLt. A plan (descriptors, algorithm, workspace) is created once per shape, layout,
// epilogue and alignment, and then reused.
#pragma once

#include <cstdint>
#include <optional>

#include "epilogue/tensor/matrix.h"

struct CUstream_st;

namespace epi::cuda {

enum class Activation : uint8_t { kNone, kRelu, kGeluTanh };
// cuBLASLt's GELU computes tanh on the special-function unit, whose absolute error is up to 2^-11.
// The error of gelu(x) is therefore up to 2^-12 |x|: an eighth of the rounding error of the sum for
// bf16, and more than that rounding error for other dtypes. (Far below zero, where GELU vanishes,
// it exceeds the error caused by rounding the sum.)
constexpr bool is_exact(Activation activation, DType dtype) {
  return activation != Activation::kGeluTanh || dtype == DType::kBF16;
}

// out[m, n] = activation(alpha * a[m, k] @ b[k, n] + beta * c + bias), row-major, in f64, f32, bf16
// or f16. Accumulates in f32 (f64 for f64). All sizes are at least one.
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
  const std::byte* c = nullptr;  // null: no matrix is added
  int64_t ld_c = 0;
  double beta = 0;
  const std::byte* bias = nullptr;  // n elements added to every row; null: none
  Activation activation = Activation::kNone;
  // Number of GEMMs in a batch, and the distance between consecutive matrices in elements.
  int64_t batch = 1;
  int64_t stride_a = 0;
  int64_t stride_b = 0;
  int64_t stride_out = 0;
  // Memory for cuBLASLt, of `kGemmWorkspaceBytes`. Null: from the device's allocator.
  std::byte* workspace = nullptr;
  std::optional<CUstream_st*> stream;  // nullopt: the device's current stream
};
// The size that cuBLAS recommends for Hopper. PyTorch uses the same one, so both select the same
// algorithms.
inline constexpr int64_t kGemmWorkspaceBytes = int64_t{32} << 20;

// How a GEMM adds the first argument of addmm.
enum class Addend : uint8_t {
  kBias,    // in the epilogue; its address must also be aligned: `is_aligned_bias`
  kMatrix,  // read in place, as c
  kCopy,    // copied into the output first
};
// The epilogue reads its bias in vectors of this many bytes. If rows are not whole vectors,
// cuBLASLt 13.0 rounds a bf16 GEMM before it adds the bias, so its epilogue is not exact.
inline constexpr int64_t kBiasVectorBytes = 16;
// `strides` are the addend's strides after broadcasting to the shape of the output.
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

// Launches the GEMM. Returns false without launching if cuBLASLt has
// no algorithm for it, for example because the dtype has no such epilogue.
bool try_gemm(const Gemm& gemm, int device);

}  // namespace epi::cuda
