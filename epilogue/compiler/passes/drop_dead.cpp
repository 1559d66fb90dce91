// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/passes/passes.h"

namespace epi::compiler {
namespace {

// A write into a tensor of the caller.
bool is_seen_outside(const Graph& graph, const Node& node) {
  if (!node.in_place) return false;
  return graph[base_of(graph, std::get<ValueRef>(node.operands[0]).id)].kind != NodeKind::kOp;
}

}  // namespace

Graph drop_dead(const Graph& graph) {
  Rewrite rewrite = identity(graph);
  std::vector<bool> read(graph.nodes.size(), false);
  for (const ValueId output : graph.outputs) read[static_cast<size_t>(output)] = true;
  for (size_t i = graph.nodes.size(); i-- > 0;) {
    const Node& node = graph.nodes[i];
    rewrite.keep[i] = read[i] || node.kind == NodeKind::kInput || is_seen_outside(graph, node);
    if (!rewrite.keep[i]) continue;
    for (const ValueId input : inputs_of(node)) read[static_cast<size_t>(input)] = true;
  }
  return apply(graph, rewrite);
}

}  // namespace epi::compiler
