// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "epilogue/compiler/graph/fusible.h"
#include "epilogue/compiler/graph/library_call.h"
#include "epilogue/compiler/passes/passes.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/pointwise_call.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

// The value of a zero-dimensional parameter, which is how a function writes a number. The owner of
// a larger tensor could still change it.
std::optional<double> number_of(const Graph& graph, const Operand& operand) {
  const auto* ref = std::get_if<ValueRef>(&operand);
  if (ref == nullptr || ref->view) return std::nullopt;
  const Node& node = graph[ref->id];
  if (!is_constant(node) || !node.shape.empty() || !has_code(node.dtype)) {
    return std::nullopt;
  }
  return to(to(node.parameter, kCpu), DType::kF64).data<double>()[0];
}

void take(Graph& graph, const Operand& operand) {
  const Node& node = graph[std::get<ValueRef>(operand).id];
  graph.taken.emplace_back(node.name, node.parameter);
}

bool takes_number(Op op) {
  const auto function = pointwise_function(op);
  return function && pointwise::info(*function).inputs == 2;
}

// Whether the operand is this number, given as a real or an integer.
bool is_number(const Operand& operand, double value) {
  if (const auto* real = std::get_if<double>(&operand)) {
    return *real == value && std::signbit(*real) == std::signbit(value);  // x - -0 is not x
  }
  return operand == Operand(SymSize(static_cast<int64_t>(value)));
}

// x * 1, x / 1 and x - 0 preserve every bit of x. x + 0 changes -0.
bool is_identity(const Graph& graph, const Node& node) {
  const auto* ref = std::get_if<ValueRef>(node.operands.data());
  if (ref == nullptr || ref->view || graph[ref->id].shape != node.shape) return false;
  if (graph[ref->id].strides != node.strides) return false;  // views of it depend on them
  if (node.op == Op::kMul || node.op == Op::kDiv) return is_number(node.operands[1], 1);
  return node.op == Op::kSub && is_number(node.operands[1], 0);
}

// Evaluates an operator on numbers alone.
void compute_numbers(Graph& graph, Node& node) {
  if (node.kind != NodeKind::kOp || !node.shape.empty() || !is_pointwise(graph, node)) return;
  for (const ValueRef& ref : references_of(node)) {
    if (!number_of(graph, ref)) return;
  }
  const Tensor value = empty({}, {node.dtype, kCpu});
  Device device = kCpu;
  const auto tensor_of = [&](const ValueRef& ref) {
    device = graph[ref.id].parameter.device();
    graph.taken.emplace_back(graph[ref.id].name, graph[ref.id].parameter);
    return to(graph[ref.id].parameter, kCpu);
  };
  call_library(node, tensor_of, {}, value);
  node.name = fmt::format("{}", to(value, DType::kF64).data<double>()[0]);
  node.kind = NodeKind::kParameter;
  node.operands.clear();
  node.parameter = to(value, device);
}

}  // namespace

Graph fold_scalars(const Graph& graph) {
  Graph result = graph;
  Rewrite rewrite = identity(graph);
  // A returned value must be a new tensor, not one of the caller's or another returned one.
  std::vector<bool> returned(graph.nodes.size(), false);
  for (const ValueId id : graph.outputs) returned[static_cast<size_t>(base_of(graph, id))] = true;
  const auto written = written_values(graph);
  for (size_t i = 0; i < result.nodes.size(); ++i) {
    Node& node = result.nodes[i];
    compute_numbers(result, node);
    if (node.kind != NodeKind::kOp || node.replaced || !takes_number(node.op)) continue;
    if (const auto number = number_of(result, node.operands[1])) {
      take(result, node.operands[1]);
      node.operands[1] = *number;
    }
    const bool swaps =
        node.op == Op::kMul || (node.op == Op::kAdd && is_number(node.operands[2], 1));
    if (const auto first = number_of(result, node.operands[0]);
        first && swaps && std::holds_alternative<ValueRef>(node.operands[1])) {
      take(result, node.operands[0]);
      node.operands[0] = node.operands[1];
      node.operands[1] = *first;
    }
    if (!is_identity(result, node)) continue;
    const ValueId operand = std::get<ValueRef>(node.operands[0]).id;
    const ValueId source = rewrite.replaced[static_cast<size_t>(operand)];
    const ValueId base = base_of(result, source);
    const bool is_caller_tensor = result[base].kind != NodeKind::kOp;
    if (returned[i] && (is_caller_tensor || returned[static_cast<size_t>(base)])) continue;
    if (written[i] || written[static_cast<size_t>(base)]) continue;  // one of them would change
    rewrite.keep[i] = false;
    rewrite.replaced[i] = source;
  }
  return drop_dead(apply(result, rewrite));
}

}  // namespace epi::compiler
