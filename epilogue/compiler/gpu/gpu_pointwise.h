// SPDX-License-Identifier: Apache-2.0
// The launches of one fused kernel for fixed sizes: everything except addresses is prepared.
#pragma once

#include <span>
#include <vector>

#include "epilogue/compiler/codegen/pointwise_code.h"
#include "epilogue/compiler/gpu/fused_walk.h"
#include "epilogue/tensor/dims.h"

namespace epi::compiler {

// The two forms of a kernel (codegen/cuda_code.h).
struct GpuFunctions {
  void* vectors = nullptr;
  void* strided = nullptr;
  bool overlaps = false;
};

class GpuPointwise {
 public:
  GpuPointwise() = default;
  // `strides` belong to the outputs, then the inputs, in `shape`.
  GpuPointwise(const GpuFunctions& functions, const PointwiseCode& code, Dims shape,
               std::vector<Dims> strides);

  // Launches the kernel. `addresses` are in the order of the strides.
  void launch(std::span<std::byte* const> addresses, int device) const;

 private:
  // A part with fewer than 2^31 elements.
  struct Piece {
    std::vector<int64_t> offsets;  // byte offsets of the operands
    FusedWalk strided;
    FusedWalk vectors;  // valid if `has_vectors`
    bool has_vectors = false;
  };
  void launch(const Piece& piece, std::span<std::byte* const> addresses, int device) const;

  GpuFunctions functions_;
  std::vector<uintptr_t> alignments_;  // required for vector access, per operand
  std::vector<Piece> pieces_;
};

}  // namespace epi::compiler
