// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/passes/passes.h"

namespace epi::compiler {
namespace {

// The operands after replacement, so that equal chains match from their start.
std::vector<Operand> replaced_operands(const Node& node, const Rewrite& rewrite) {
  std::vector<Operand> operands = node.operands;
  const auto replace = [&](ValueRef& ref) {
    ref.id = rewrite.replaced[static_cast<size_t>(ref.id)];
  };
  for (Operand& operand : operands) {
    if (auto* ref = std::get_if<ValueRef>(&operand)) replace(*ref);
    if (auto* refs = std::get_if<std::vector<ValueRef>>(&operand)) {
      for (ValueRef& ref : *refs) replace(ref);
    }
  }
  return operands;
}

}  // namespace

Graph merge_common(const Graph& graph) {
  Rewrite rewrite = identity(graph);
  std::vector<std::vector<Operand>> operands(graph.nodes.size());
  const auto written = written_values(graph);
  std::vector<bool> returned(graph.nodes.size(), false);
  for (const ValueId id : graph.outputs) returned[static_cast<size_t>(base_of(graph, id))] = true;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.kind != NodeKind::kOp) continue;
    operands[i] = replaced_operands(node, rewrite);
    if (written[i] || node.in_place) continue;  // as is, or another value would change with it
    for (size_t j = 0; j < i; ++j) {
      const Node& other = graph.nodes[j];
      const bool same = other.kind == NodeKind::kOp && rewrite.keep[j] && !written[j] &&
                        !(returned[i] && returned[j]) && !other.in_place && other.op == node.op &&
                        other.dtype == node.dtype && other.shape == node.shape &&
                        operands[j] == operands[i];
      if (!same) continue;
      rewrite.keep[i] = false;
      rewrite.replaced[i] = static_cast<ValueId>(j);
      break;
    }
  }
  return apply(graph, rewrite);
}

}  // namespace epi::compiler
