// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/compiler/graph/fusible.h"
#include "epilogue/compiler/passes/passes.h"

namespace epi::compiler {
namespace {

int count_groups(const Graph& graph) {
  int count = 0;
  for (const Node& node : graph.nodes) count = std::max(count, node.group + 1);
  return count;
}

// The only pointwise group that reads a GEMM, element by element, or -1.
int only_reader(const Graph& graph, ValueId gemm) {
  int group = -1;
  for (const Node& node : graph.nodes) {
    for (const ValueRef& ref : references_of(node)) {
      if (ref.id != gemm) continue;
      const bool fits = node.group >= 0 && is_pointwise(graph, node) &&
                        (group < 0 || group == node.group) && is_in_order(graph, ref, node);
      if (!fits) return -1;
      group = node.group;
    }
  }
  const bool returned =
      std::find(graph.outputs.begin(), graph.outputs.end(), gemm) != graph.outputs.end();
  return returned ? -1 : group;
}

bool has_gemm(const Graph& graph, const NodeSet& set) {
  return std::any_of(set.begin(), set.end(), [&](ValueId id) { return is_gemm(graph[id]); });
}

// The limits of the Hopper kernels: one result of the GEMM's dtype, and few operands.
bool fits_hopper(const Graph& graph, const NodeSet& set, const Node& gemm) {
  const auto results = results_of(graph, set);
  size_t operands = 0;
  for (const ValueId id : set) operands += references_of(graph[id]).size();
  return results.size() == 1 && graph[results[0]].dtype == gemm.dtype &&
         operands <= kMaxHopperOperands;
}

}  // namespace

Graph fuse_epilogue(const Graph& graph, CustomGemms custom) {
  Graph result = graph;
  int next = count_groups(graph);
  // In reverse order: if several GEMMs feed one kernel, the last one takes it as its epilogue,
  // because the others have run by then.
  for (size_t i = result.nodes.size(); i-- > 0;) {
    Node& gemm = result.nodes[i];
    if (!is_custom_gemm(result, gemm, custom)) continue;
    gemm.group = next++;
    const int reader = only_reader(result, static_cast<ValueId>(i));
    if (reader < 0) continue;
    const NodeSet epilogue = nodes_of_group(result, reader);
    const NodeSet together = joined({static_cast<ValueId>(i)}, epilogue);
    const bool fits = !has_gemm(result, epilogue) && has_matrix_access(result, epilogue, gemm) &&
                      is_convex(result, together) && has_few_operands(result, together) &&
                      (custom != CustomGemms::kHopper || fits_hopper(result, together, gemm));
    if (fits) gemm.group = reader;
  }
  return renumbered(std::move(result));
}

}  // namespace epi::compiler
