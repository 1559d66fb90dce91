// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/compiler/graph/fusible.h"
#include "epilogue/compiler/passes/passes.h"
#include "epilogue/ops/functional.h"

namespace epi::compiler {
namespace {

bool are_alike(const Graph& graph, const Node& a, const Node& b) {
  return rows_of(a) == rows_of(b) && a.dtype == b.dtype &&
         graph[weights_of(a).id].shape == graph[weights_of(b).id].shape;
}

// The view of one half of a stacked GEMM that replaces a view of the original GEMM: the row stride
// doubles. nullopt if the view is not row-major over whole rows.
std::optional<View> view_of_half(const View& view, const SymSize& columns, bool second) {
  if (view.shape.empty() || view.shape.back() != columns || view.offset != SymSize(0) ||
      view.strides != row_major(view.shape)) {
    return std::nullopt;
  }
  View half = view;
  for (size_t d = 0; d + 1 < half.strides.size(); ++d)
    half.strides[d] = half.strides[d] * SymSize(2);
  half.offset = second ? columns : SymSize(0);
  return half;
}

// Whether every reader of `gemm` is pointwise and can read half of a stacked GEMM.
bool can_be_half(const Graph& graph, ValueId gemm) {
  if (std::count(graph.outputs.begin(), graph.outputs.end(), gemm) != 0) return false;
  bool is_read = false;  // false if it was already stacked into another
  for (const Node& node : graph.nodes) {
    for (const ValueRef& ref : references_of(node)) {
      if (ref.id != gemm) continue;
      is_read = true;
      const bool fits = is_pointwise(graph, node) &&
                        view_of_half(view_of(graph, ref), graph[gemm].shape[1], false).has_value();
      if (!fits) return false;
    }
  }
  return is_read;
}

// Merges `other` into `gemm`: its weight is stacked below the first weight.
void stack(Graph& graph, ValueId gemm, ValueId other) {
  const SymSize columns = graph[gemm].shape[1];
  const ValueId first_weight = weights_of(graph[gemm]).id;
  const ValueId second_weight = weights_of(graph[other]).id;
  const auto redirect = [&](Operand& operand) {
    auto* ref = std::get_if<ValueRef>(&operand);
    if (ref == nullptr || (ref->id != gemm && ref->id != other)) return;
    const View view = view_of(graph, *ref);
    *ref = {gemm, view_of_half(view, columns, ref->id == other)};
  };
  for (Node& node : graph.nodes) {
    for (Operand& operand : node.operands) redirect(operand);
  }
  // A parameter must precede its readers, so the stacked weight takes the place of the first.
  Node& weight = graph.nodes[static_cast<size_t>(first_weight)];
  const Tensor parts[] = {weight.parameter, graph[second_weight].parameter};
  graph.taken.emplace_back(weight.name, parts[0]);
  graph.taken.emplace_back(graph[second_weight].name, parts[1]);
  weight.parameter = cat(parts, 0);
  weight.copied = true;
  weight.name = fmt::format("{} over {}", weight.name, graph[second_weight].name);
  weight.shape[0] = weight.shape[0] * SymSize(2);
  Node& node = graph.nodes[static_cast<size_t>(gemm)];
  auto& ref = std::get<ValueRef>(node.operands[1]);
  ref.view = View{{weight.shape[1], weight.shape[0]},
                  {SymSize(1), weight.shape[1]},
                  SymSize(0),
                  ref.view->through};
  node.shape[1] = weight.shape[0];
  node.strides = row_major(node.shape);
}

}  // namespace

Graph stack_gemms(const Graph& graph, CustomGemms custom) {
  Graph result = graph;
  const auto is_candidate = [&](const Node& node) {
    return node.kind == NodeKind::kOp && node.op == Op::kMm && is_linear(result, node) &&
           !is_custom_gemm(result, node, custom);
  };
  for (size_t i = 0; i < result.nodes.size(); ++i) {
    if (!is_candidate(result.nodes[i])) continue;
    const auto gemm = static_cast<ValueId>(i);
    for (size_t j = i + 1; j < result.nodes.size(); ++j) {
      const auto other = static_cast<ValueId>(j);
      const bool fits = is_candidate(result.nodes[j]) &&
                        are_alike(result, result.nodes[i], result.nodes[j]) &&
                        can_be_half(result, gemm) && can_be_half(result, other) &&
                        count_readers(result, weights_of(result[gemm]).id) == 1 &&
                        count_readers(result, weights_of(result[other]).id) == 1;
      if (!fits) continue;
      stack(result, gemm, other);
      break;
    }
  }
  return drop_dead(result);
}

}  // namespace epi::compiler
