// SPDX-License-Identifier: Apache-2.0
// Whose a GEMM is, ours or the library's: the question that passes ask of a target, and what its
// library can do beside multiplying.
#pragma once

#include <string>

#include "epilogue/compiler/graph/fusible.h"

namespace epi::compiler {

// The GEMMs that a target has of our own.
enum class CustomGemms : uint8_t {
  kNone,    // a GPU whose GEMMs are the library's
  kPacked,  // the CPU: any dtype that has code, weights packed
  kHopper,  // bf16 and f16 on a GPU of compute capability 9.0, weights as they are
};
// Why a GEMM stays with the library; empty where it can be one of ours.
std::string why_not_own(const Graph& graph, const Node& gemm, CustomGemms own);
inline bool is_custom_gemm(const Graph& graph, const Node& node, CustomGemms own) {
  return is_gemm(node) && why_not_own(graph, node, own).empty();
}
// x @ w.t() with w [n, k] a row-major parameter, as `linear` has it.
bool is_linear(const Graph& graph, const Node& gemm);
// What an addmm adds is a row that cuBLASLt's epilogue takes, where its address is aligned.
bool adds_bias(const Graph& graph, const Node& addmm);

}  // namespace epi::compiler
