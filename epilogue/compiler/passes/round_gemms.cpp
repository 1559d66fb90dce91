// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/fusible.h"
#include "epilogue/compiler/passes/passes.h"

namespace epi::compiler {

Graph round_gemms(const Graph& graph) {
  Graph result = graph;
  for (Node& node : result.nodes) node.rounded = is_gemm(node);
  return result;
}

}  // namespace epi::compiler
