// SPDX-License-Identifier: Apache-2.0
// One generated kernel run on addresses: over all threads, and reported to the profiler.
#pragma once

#include <span>
#include <string_view>

#include "epilogue/compiler/plan/kernel_list.h"
#include "epilogue/compiler/plan/packing.h"
#include "epilogue/ops/hooks.h"

namespace epi::compiler {

// What a call of a kernel is reported as.
struct KernelCost {
  std::string_view name;
  int64_t bytes = 0;
  int64_t flops = 0;

  LaunchCost on_device() const { return {bytes, flops}; }
};

// `data`, in bytes, and `strides` are of the outputs, then of the inputs, in `shape`.
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
  GemmFunction function = nullptr;
  const GemmCode* code = nullptr;
  GemmTile tile;
  Rows x;
  std::byte* packed_x = nullptr;  // packed_rows_bytes of room
  const std::byte* weights = nullptr;
  std::span<std::byte* const> others;
};
void run_gemm(const GemmCall& call, const KernelCost& cost);

}  // namespace epi::compiler
