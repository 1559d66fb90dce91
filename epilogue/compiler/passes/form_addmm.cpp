// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "epilogue/compiler/graph/fusible.h"
#include "epilogue/compiler/passes/passes.h"

namespace epi::compiler {
namespace {

// The GEMM that an addition absorbs, and the addend.
struct Match {
  ValueRef gemm;
  ValueRef added;
};

// add(GEMM, c) or add(c, GEMM) with alpha 1, whose result has the GEMM's shape: the addend
// broadcasts to the GEMM, not the other way around.
std::optional<Match> match(const Graph& graph, const Node& add) {
  if (add.kind != NodeKind::kOp || add.op != Op::kAdd || add.replaced ||
      add.operands[2] != Operand(SymSize(1))) {
    return std::nullopt;
  }
  const auto* left = std::get_if<ValueRef>(&add.operands[0]);
  const auto* right = std::get_if<ValueRef>(&add.operands[1]);
  if (left == nullptr || right == nullptr) return std::nullopt;
  for (const Match& found : {Match{*left, *right}, Match{*right, *left}}) {
    const Node& node = graph[found.gemm.id];
    const bool fits = is_gemm(node) && node.op == Op::kMm && node.shape == add.shape &&
                      count_readers(graph, found.gemm.id) == 1;
    if (fits && !found.gemm.view) return found;
  }
  return std::nullopt;
}

}  // namespace

Graph form_addmm(const Graph& graph) {
  Graph result = graph;
  if (!may_form(graph, Op::kAddmm)) return result;
  for (Node& node : result.nodes) {
    const auto found = match(graph, node);
    if (!found) continue;
    const std::vector<Operand> factors = graph[found->gemm.id].operands;
    node.op = Op::kAddmm;
    node.operands = {found->added, factors[0], factors[1], SymSize(1), SymSize(1)};
  }
  return drop_dead(result);
}

}  // namespace epi::compiler
