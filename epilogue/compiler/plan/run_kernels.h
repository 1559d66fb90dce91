// SPDX-License-Identifier: Apache-2.0
// Runs a generated kernel on addresses, on all threads, and reports it to the profiler.
#pragma once

#include <span>

#include "epilogue/compiler/plan/plan_backend.h"
#include "epilogue/ops/hooks.h"

namespace epi::compiler {

// `data` (byte pointers) and `strides` belong to the outputs, then the inputs, in `shape`.
struct PointwiseCall {
  PointwiseFunction function = nullptr;
  const PointwiseCode* code = nullptr;
  Dims shape;
  std::span<std::byte* const> data;
  std::span<const Dims> strides;
};
void run_pointwise(const PointwiseCall& call, const KernelCost& cost);

// `others` are the outputs, then the operands.
struct GemmCall {
  void* function = nullptr;  // a GemmFunction, or a GemmTilesFunction
  const GemmCode* code = nullptr;
  GemmTile tile;
  Rows x;
  std::byte* packed_x = nullptr;  // buffer of packed_rows_bytes
  const std::byte* weights = nullptr;
  std::span<std::byte* const> others;
};
void run_gemm(const GemmCall& call, const KernelCost& cost);

}  // namespace epi::compiler
