// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/gpu/library_gemm.h"

#include <algorithm>

namespace epi::compiler {

std::optional<LibraryGemm> LibraryGemm::plan(const Node& node, std::span<const Layout> operands,
                                             const Layout& out) {
  const bool activates = node.op == Op::kAddmmActivation;
  const bool adds = node.op == Op::kAddmm || activates;
  if (node.kind != NodeKind::kOp || (node.op != Op::kMm && !adds)) return std::nullopt;
  const size_t first = adds ? 1 : 0;
  const auto a = as_matrix(operands[first]);
  const auto b = as_matrix(operands[first + 1]);
  LibraryGemm gemm;
  cuda::Gemm& g = gemm.gemm_;
  g.dtype = node.dtype;
  g.m = out.shape[0];
  g.n = out.shape[1];
  g.k = operands[first].shape[1];
  if (!a || !b || g.m == 0 || g.n == 0 || g.k == 0) return std::nullopt;
  g.a = *a;
  g.b = *b;
  g.ld_out = g.n;
  if (!adds) return gemm;
  g.alpha = number_in(node.operands[4]);
  g.beta = number_in(node.operands[3]);
  if (activates) {
    const bool gelu = std::get<bool>(node.operands[5]);
    g.activation = gelu ? cuda::Activation::kGeluTanh : cuda::Activation::kRelu;
    if (g.beta == 0 || !cuda::is_exact(g.activation, g.dtype)) return std::nullopt;
  }
  if (g.beta == 0) return gemm;
  const Dims strides = broadcast_strides("addmm", operands[0], out.shape);
  gemm.adds_ = true;
  gemm.addend_ = cuda::addend_of(strides, g.beta, g);
  if (gemm.addend_ == cuda::Addend::kCopy) return std::nullopt;
  if (activates && gemm.addend_ != cuda::Addend::kBias) return std::nullopt;
  if (gemm.addend_ == cuda::Addend::kBias) g.beta = 0;
  if (gemm.addend_ == cuda::Addend::kMatrix) g.ld_c = std::max(strides[0], g.n);
  return gemm;
}

bool LibraryGemm::start(std::span<std::byte* const> operands, std::byte* out, int device) const {
  cuda::Gemm g = gemm_;
  const size_t first = operands.size() - 2;
  g.a.data = operands[first];
  g.b.data = operands[first + 1];
  g.out = out;
  if (adds_ && addend_ == cuda::Addend::kBias) {
    if (!cuda::is_aligned_bias(operands[0])) return false;
    g.bias = operands[0];
  } else if (adds_) {
    g.c = operands[0];
  }
  return cuda::try_gemm(g, device);
}

}  // namespace epi::compiler
