// SPDX-License-Identifier: Apache-2.0
// The cuBLASLt descriptors of a GEMM and the algorithm that its heuristic selected.
#pragma once

#include <array>
#include <cstdint>

#include "epilogue/cuda/cublaslt.h"
#include "epilogue/cuda/gemm.h"

namespace epi::cuda {

// Everything a plan depends on. Has no padding, because it is hashed as bytes.
struct PlanKey {
  std::array<int64_t, 4> sizes{};        // m, n, k, batch
  std::array<int64_t, 7> strides{};      // ld of a, b, c, out; batch strides of a, b, out
  std::array<uint16_t, 4> alignments{};  // of a, b, c, out, in bytes
  uint16_t device = 0;
  DType dtype = DType::kF32;
  Activation activation = Activation::kNone;
  bool a_transposed = false;
  bool b_transposed = false;
  bool has_c = false;
  bool has_bias = false;
  bool tf32 = false;
  std::array<uint8_t, 7> unused{};

  bool operator==(const PlanKey&) const = default;
};
static_assert(sizeof(PlanKey) == 11 * 8 + 4 * 2 + 2 + 7 + 7);

struct GemmPlan {
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDescOpaque_t desc{};
  cublasLtMatrixLayoutOpaque_t a{};
  cublasLtMatrixLayoutOpaque_t b{};
  cublasLtMatrixLayoutOpaque_t c{};
  cublasLtMatrixLayoutOpaque_t out{};
  cublasLtMatmulAlgo_t algorithm{};
  size_t workspace_bytes = 0;
  bool exists = false;  // cuBLASLt has an algorithm
};

// Queries cuBLASLt's heuristic, which takes about a hundred microseconds.
GemmPlan make_plan(const PlanKey& key);

}  // namespace epi::cuda
