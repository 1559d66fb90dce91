// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "epilogue/compiler/graph/fusible.h"
#include "epilogue/compiler/passes/passes.h"
#include "epilogue/cuda/gemm.h"

namespace epi::compiler {
namespace {

bool is_read_by_pointwise(const Graph& graph, ValueId id) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
    const auto inputs = inputs_of(node);
    return is_pointwise(graph, node) && std::count(inputs.begin(), inputs.end(), id) != 0;
  });
}

// An activation that the library computes as accurately as our kernels.
bool is_activation(const Node& node) {
  if (node.kind != NodeKind::kOp || node.replaced) return false;
  if (node.op == Op::kRelu) return cuda::is_exact(cuda::Activation::kRelu, node.dtype);
  return node.op == Op::kGelu && node.operands[1] == Operand(std::string("tanh")) &&
         cuda::is_exact(cuda::Activation::kGeluTanh, node.dtype);
}

bool fits(const Graph& graph, ValueId id, CustomGemms custom) {
  const Node& node = graph[id];
  if (!is_activation(node) || is_read_by_pointwise(graph, id)) return false;
  const auto& ref = std::get<ValueRef>(node.operands[0]);
  const Node& gemm = graph[ref.id];
  return is_gemm(gemm) && gemm.op == Op::kAddmm && adds_bias(graph, gemm) &&
         !is_custom_gemm(graph, gemm, custom) && is_in_order(graph, ref, node) &&
         count_readers(graph, ref.id) == 1;
}

// Moves the activation into the GEMM. Its node becomes a view of the GEMM in the activation's
// shape, and its readers read the GEMM in the same order.
void take_over(Graph& graph, ValueId id) {
  Node& activation = graph.nodes[static_cast<size_t>(id)];
  const ValueId gemm = std::get<ValueRef>(activation.operands[0]).id;
  Node& addmm = graph.nodes[static_cast<size_t>(gemm)];
  addmm.op = Op::kAddmmActivation;
  addmm.operands.emplace_back(activation.op == Op::kGelu);
  activation.op = Op::kUnsafeView;
  activation.operands = {ValueRef{gemm}, activation.shape};
  for (Node& node : graph.nodes) {
    if (is_view(node)) continue;
    for_each_ref(node, [&](ValueRef& ref) {
      if (ref.id == id) ref = {gemm, view_of(graph, ref)};
    });
  }
}

}  // namespace

Graph form_activation(const Graph& graph, CustomGemms custom) {
  // OpenBLAS has no such epilogues.
  if (custom == CustomGemms::kPacked || !may_form(graph, Op::kAddmmActivation)) return graph;
  Graph result = graph;
  for (size_t i = 0; i < result.nodes.size(); ++i) {
    const auto id = static_cast<ValueId>(i);
    if (fits(result, id, custom)) take_over(result, id);
  }
  return fold_views(result);
}

}  // namespace epi::compiler
