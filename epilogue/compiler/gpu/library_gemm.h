// SPDX-License-Identifier: Apache-2.0
// A library GEMM for fixed sizes: everything except addresses is prepared.
#pragma once

#include <optional>
#include <span>

#include "epilogue/compiler/graph/graph.h"
#include "epilogue/cuda/gemm.h"

namespace epi::compiler {

class LibraryGemm {
 public:
  // Plans a GEMM whose operands have these layouts, in the operator's order. nullopt if the node is
  // not a GEMM or needs more than one launch: operands that must be copied, an empty inner
  // dimension, or an activation that cuBLASLt lacks.
  static std::optional<LibraryGemm> plan(const Node& node, std::span<const Layout> operands,
                                         const Layout& out);

  // Launches the GEMM. Returns false without launching anything if these addresses need another
  // implementation.
  bool start(std::span<std::byte* const> operands, std::byte* out, int device) const;

 private:
  cuda::Gemm gemm_;
  bool adds_ = false;  // addmm: the first operand is the addend
  cuda::Addend addend_ = cuda::Addend::kMatrix;
};

}  // namespace epi::compiler
