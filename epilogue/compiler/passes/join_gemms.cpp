// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "epilogue/compiler/graph/fusible.h"
#include "epilogue/compiler/passes/passes.h"

namespace epi::compiler {
namespace {

std::vector<ValueId> gemms_of(const Graph& graph, const NodeSet& set) {
  std::vector<ValueId> gemms;
  for (const ValueId id : set) {
    if (is_gemm(graph[id])) gemms.push_back(id);
  }
  return gemms;
}

// Whether both multiply the same rows by weights of the same size and dtype.
bool are_alike(const Graph& graph, const Node& a, const Node& b) {
  const auto int8_a = int8_mm_of(graph, a);
  const auto int8_b = int8_mm_of(graph, b);
  const bool same_arithmetic = int8_a && int8_b ? int8_a->in_groups == int8_b->in_groups &&
                                                      int8_a->int8_input == int8_b->int8_input
                                                : !int8_a && !int8_b;
  return same_arithmetic && rows_of(a) == rows_of(b) && a.shape == b.shape && a.dtype == b.dtype &&
         view_of(graph, weights_of(a)).shape == view_of(graph, weights_of(b)).shape;
}

// Whether all readers of `gemm` are in the set and read it element by element.
bool is_read_only_by(const Graph& graph, ValueId gemm, const NodeSet& set) {
  for (const ValueId result : results_of(graph, joined(set, {gemm}))) {
    if (result == gemm) return false;
  }
  bool is_read = false;
  for (const ValueId id : set) {
    for (const ValueRef& ref : references_of(graph[id])) {
      if (ref.id != gemm) continue;
      if (!is_in_order(graph, ref, graph[id])) return false;
      is_read = true;
    }
  }
  return is_read;
}

}  // namespace

Graph join_gemms(const Graph& graph, CustomGemms custom) {
  Graph result = graph;
  for (size_t i = 0; i < result.nodes.size(); ++i) {
    const Node& node = result.nodes[i];
    if (node.group < 0 || !is_custom_gemm(result, node, custom)) continue;
    const NodeSet set = nodes_of_group(result, node.group);
    const auto gemms = gemms_of(result, set);
    if (gemms.size() != 1 || gemms[0] != static_cast<ValueId>(i)) continue;
    for (size_t j = 0; j < result.nodes.size(); ++j) {
      Node& other = result.nodes[j];
      const auto id = static_cast<ValueId>(j);
      const bool alone = other.group >= 0 && nodes_of_group(result, other.group).size() == 1;
      const bool fits = j != i && alone && is_custom_gemm(result, other, custom) &&
                        are_alike(result, node, other) && is_read_only_by(result, id, set) &&
                        is_convex(result, joined(set, {id})) &&
                        has_few_operands(result, joined(set, {id}));
      if (!fits) continue;
      other.group = node.group;
      break;
    }
  }
  return renumbered(std::move(result));
}

}  // namespace epi::compiler
