// SPDX-License-Identifier: Apache-2.0
// A GEMM of the library with its sizes known: everything but addresses is prepared.
#pragma once

#include <optional>
#include <span>

#include "epilogue/compiler/graph/graph.h"
#include "epilogue/cuda/gemm.h"

namespace epi::compiler {

class LibraryGemm {
 public:
  // Of a GEMM whose operands have these layouts, in the operator's order. None where the node is
  // no GEMM, and where it needs more than one launch: operands that must be copied, no elements
  // to sum, an activation that cuBLASLt lacks.
  static std::optional<LibraryGemm> plan(const Node& node, std::span<const Layout> operands,
                                         const Layout& out);

  // Starts it; false, and nothing started, where these addresses need another way.
  bool start(std::span<std::byte* const> operands, std::byte* out, int device) const;

 private:
  cuda::Gemm gemm_;
  bool adds_ = false;  // addmm: the first operand is added
  cuda::Addend addend_ = cuda::Addend::kMatrix;
};

}  // namespace epi::compiler
