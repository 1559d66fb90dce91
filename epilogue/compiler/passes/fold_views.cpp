// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "epilogue/compiler/passes/passes.h"

namespace epi::compiler {
namespace {

// The base of a chain of views, with the layout of the chain's last view.
ValueRef folded(const Graph& graph, const ValueRef& ref) {
  const Node& end = graph[ref.id];
  if (!is_view(end) || ref.view) return ref;
  View view{end.shape, end.strides, SymSize(0), {}};
  ValueId id = ref.id;
  while (is_view(graph[id])) {
    view.offset = view.offset + graph[id].offset;
    view.through.push_back(graph[id].op);
    id = std::get<ValueRef>(graph[id].operands[0]).id;
  }
  std::reverse(view.through.begin(), view.through.end());
  return {id, std::move(view)};
}

}  // namespace

Graph fold_views(const Graph& graph) {
  Graph result = graph;
  for (Node& node : result.nodes) {
    if (is_view(node)) continue;
    for (Operand& operand : node.operands) {
      if (auto* ref = std::get_if<ValueRef>(&operand)) *ref = folded(graph, *ref);
      if (auto* refs = std::get_if<std::vector<ValueRef>>(&operand)) {
        for (ValueRef& one : *refs) one = folded(graph, one);
      }
    }
  }
  return drop_dead(result);
}

}  // namespace epi::compiler
