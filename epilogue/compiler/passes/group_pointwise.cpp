// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "epilogue/compiler/graph/fusible.h"
#include "epilogue/compiler/passes/passes.h"
#include "epilogue/cpu/strided_walk.h"

namespace epi::compiler {
namespace {

// Limit on the inputs and outputs of one kernel: a CPU can track only so many memory streams, and
// each needs a register for its address.
constexpr size_t kMaxOperands = cpu::kMaxFusedOperands;

size_t count_operands(const Graph& graph, const NodeSet& set) {
  std::vector<ValueRef> read;
  for (const ValueId id : set) {
    for (const ValueRef& ref : references_of(graph[id])) {
      if (!contains(set, ref.id) && std::find(read.begin(), read.end(), ref) == read.end())
        read.push_back(ref);
    }
  }
  return read.size() + results_of(graph, set).size();
}

bool may_join(const Graph& graph, const NodeSet& set) {
  return count_operands(graph, set) <= kMaxOperands && common_shape(graph, set) &&
         is_convex(graph, set);
}

}  // namespace

Graph group_pointwise(const Graph& graph) {
  Graph result = graph;
  int next = 0;
  for (size_t i = 0; i < result.nodes.size(); ++i) {
    if (!is_pointwise(result, result.nodes[i])) continue;
    Node& node = result.nodes[i];
    node.group = next++;
    NodeSet set = {static_cast<ValueId>(i)};
    for (const ValueRef& ref : references_of(node)) {
      const int group = result[ref.id].group;
      if (group < 0 || group == node.group || !is_in_order(result, ref, node)) continue;
      const NodeSet together = joined(set, nodes_of_group(result, group));
      if (!may_join(result, together)) continue;
      for (const ValueId id : together) result.nodes[static_cast<size_t>(id)].group = node.group;
      set = together;
    }
  }
  return renumbered(std::move(result));
}

}  // namespace epi::compiler
