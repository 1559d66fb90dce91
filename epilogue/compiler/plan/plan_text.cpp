// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/plan_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/passes/pipeline.h"

namespace epi::compiler {
namespace {

std::string values_text(const CompiledGraph& compiled, size_t kernel) {
  std::string out;
  for (const ArenaValue& one : compiled.memory.values) {
    if (one.kernel != kernel) continue;
    if (one.value < 0) {
      const bool by_tiles = compiled.weights[kernel].tile.kind == GemmKind::kTiles;
      out += fmt::format("  packs its rows in slot {}{}\n", one.slot,
                         by_tiles ? " where they are not dense, or k is no multiple of 32" : "");
      continue;
    }
    const Node& node = compiled.graph[one.value];
    out += fmt::format("  writes {}{} to slot {}, last read by kernel {}\n", name(node.dtype),
                       to_string(node.shape), one.slot, one.last);
  }
  return out;
}

std::string weights_text(const CompiledGraph& compiled, size_t kernel) {
  const auto* gemm = std::get_if<GemmKernel>(&compiled.kernels[kernel].body);
  if (gemm == nullptr || compiled.device != kCpu) return "";
  const auto& [tile, panels] = compiled.weights[kernel];
  return fmt::format("  weights packed: {} panels of {} columns, {} bytes; {} rows at a time{}\n",
                     panels_of(gemm->code, tile), tile.columns * gemm->code.products,
                     panels.size_bytes(), tile.rows,
                     tile.kind == GemmKind::kTiles   ? ", by AMX tiles"
                     : tile.kind == GemmKind::kPairs ? ", by pairs of bf16"
                                                     : "");
}

std::vector<std::string> forms_of(const GpuGemm& gemm) {
  auto forms = gemm.forms();
  if (forms.empty()) forms.emplace_back("cuBLASLt");
  return forms;
}

// What runs a kernel on a GPU, and why.
std::string choice_text(const CompiledGraph& compiled, size_t kernel) {
  if (compiled.device == kCpu) return "";
  const auto& body = compiled.kernels[kernel].body;
  if (const auto* pointwise = std::get_if<PointwiseKernel>(&body)) {
    return fmt::format(
        "  ours: {} elements at once where operands are dense and aligned, else one\n",
        cuda_vector(pointwise->code));
  }
  if (const auto* gemm = std::get_if<GemmKernel>(&body)) {
    return fmt::format(
        "  ours: up to {} rows the weights stream by; more in tiles of 128 rows by what keeps\n"
        "  the GPU busiest; where there are too few of them, cuBLASLt{}\n  for the first size: "
        "{}\n",
        kMostStreamRows, has_epilogue(*gemm) ? " and a kernel behind it" : "",
        fmt::join(forms_of(*compiled.gpu_gemms[kernel]), ", "));
  }
  const Node& node = compiled.graph[std::get<LibraryKernel>(body).node];
  const bool activates = node.op == Op::kAddmmActivation;
  if (!is_product(node) && !activates) return "  the eager kernel: not pointwise\n";
  const std::string why = why_not_own(compiled.graph, node, own_products(compiled.device));
  std::string out = "  cuBLASLt: " +
                    (why.empty() ? "too little for the GPU in tiles of ours, or not fused" : why);
  if (activates) return out + "; the bias and the activation in its epilogue\n";
  const Node& weight = compiled.graph[weights_of(node).id];
  if (weight.copied) {
    out += fmt::format("; {}, a copy of {} bytes", weight.name, weight.parameter.size_bytes());
  }
  if (node.op == Op::kAddmm) {
    out += adds_bias(compiled.graph, node) ? "; the bias in its epilogue"
                                           : "; what is added as beta C";
  }
  return out + "\n";
}

}  // namespace

std::string plan_text(const CompiledGraph& compiled) {
  std::string out;
  for (size_t i = 0; i < compiled.kernels.size(); ++i) {
    out +=
        fmt::format("kernel {}: {}\n{}{}{}", i, compiled.source.names[i], choice_text(compiled, i),
                    values_text(compiled, i), weights_text(compiled, i));
  }
  const int slots = compiled.memory.slots;
  return out + fmt::format("arena: {} slot{}\n", slots, slots == 1 ? "" : "s");
}

}  // namespace epi::compiler
