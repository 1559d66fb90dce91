// SPDX-License-Identifier: Apache-2.0
// Decides whether a GEMM runs our kernel or the library's, and which epilogues the library
// supports.
#pragma once

#include <string>

#include "epilogue/compiler/graph/fusible.h"

namespace epi::compiler {

// The custom GEMM kernels of a target.
enum class CustomGemms : uint8_t {
  kNone,    // a GPU that runs all GEMMs in the library
  kPacked,  // the CPU: every dtype with generated code, packed weights
  kHopper,  // bf16 and f16 on a GPU of compute capability 9.0, unpacked weights
};
// The reason why a GEMM stays with the library, or empty if our kernel can run it.
std::string why_library_gemm(const Graph& graph, const Node& gemm, CustomGemms custom);
inline bool is_custom_gemm(const Graph& graph, const Node& node, CustomGemms custom) {
  return is_gemm(node) && why_library_gemm(graph, node, custom).empty();
}
// x @ w.t() with w [n, k] a row-major parameter, as in `linear`.
bool is_linear(const Graph& graph, const Node& gemm);
// Whether the addend of an addmm is a row that cuBLASLt accepts as an epilogue bias, provided that
// its address is aligned.
bool adds_bias(const Graph& graph, const Node& addmm);

}  // namespace epi::compiler
