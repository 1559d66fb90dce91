// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/fusible.h"

#include <algorithm>
#include <map>

#include "epilogue/cpu/strided_walk.h"
#include "epilogue/ops/pointwise_call.h"

namespace epi::compiler {
namespace {

// copy_ is a conversion here.
bool is_pointwise_op(Op op) { return op == Op::kCopy_ || pointwise_function(op).has_value(); }

// Generated code contains the numbers of its operators.
bool has_static_numbers(const Node& node) {
  return std::all_of(node.operands.begin(), node.operands.end(), [](const Operand& operand) {
    const auto* number = std::get_if<SymSize>(&operand);
    return number == nullptr || number->is_static();
  });
}

bool is_static(const SymDims& dims) {
  return std::all_of(dims.begin(), dims.end(),
                     [](const SymSize& size) { return size.is_static(); });
}

// The common stride of all dimensions except the last, or nullopt if they do not merge.
std::optional<SymSize> merged_stride(const SymDims& shape, const SymDims& strides) {
  std::optional<SymSize> merged;
  SymSize expected(0);
  for (size_t d = shape.size() - 1; d-- > 0;) {
    if (shape[d] == SymSize(1)) continue;
    if (!merged) {
      merged = strides[d];
    } else if (strides[d] != expected) {
      return std::nullopt;
    }
    expected = strides[d] * shape[d];
  }
  return merged.value_or(SymSize(0));
}

}  // namespace

bool has_code(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kBF16 || dtype == DType::kF16;
}

bool is_pointwise(const Graph& graph, const Node& node) {
  if (node.kind != NodeKind::kOp || !is_pointwise_op(node.op) || node.in_place || node.replaced ||
      !has_code(node.dtype) || !has_static_numbers(node)) {
    return false;
  }
  const auto inputs = inputs_of(node);
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](ValueId id) { return has_code(graph[id].dtype); });
}

bool is_gemm(const Node& node) {
  return node.kind == NodeKind::kOp && !node.replaced &&
         (node.op == Op::kMm || node.op == Op::kAddmm || node.op == Op::kInt8Mm);
}

const ValueRef& rows_of(const Node& gemm) {
  return std::get<ValueRef>(gemm.operands[gemm.op == Op::kAddmm ? 1 : 0]);
}

const ValueRef& weights_of(const Node& gemm) {
  return std::get<ValueRef>(gemm.operands[gemm.op == Op::kAddmm ? 2 : 1]);
}

std::optional<Int8Mm> int8_mm_of(const Graph& graph, const Node& gemm) {
  if (gemm.kind != NodeKind::kOp || gemm.op != Op::kInt8Mm) return std::nullopt;
  Int8Mm int8;
  int8.scale = std::get<ValueRef>(gemm.operands[2]);
  int8.in_groups = view_of(graph, int8.scale).shape[1] != SymSize(1);
  int8.int8_input = std::get<bool>(gemm.operands[4]);
  return int8;
}

ValueRef scale_row_of(const Graph& graph, const Node& gemm) {
  ValueRef row = std::get<ValueRef>(gemm.operands[2]);
  View view = view_of(graph, row);
  view.shape.pop_back();
  view.strides.pop_back();
  row.view = std::move(view);
  return row;
}

std::vector<ValueRef> epilogue_operands_of(const Graph& graph, const Node& gemm) {
  if (gemm.op == Op::kAddmm) return {std::get<ValueRef>(gemm.operands[0])};
  std::vector<ValueRef> operands;
  if (const auto int8 = int8_mm_of(graph, gemm)) {
    if (!int8->in_groups) operands.push_back(scale_row_of(graph, gemm));
    if (const auto* bias = std::get_if<ValueRef>(&gemm.operands[3])) operands.push_back(*bias);
  }
  return operands;
}

namespace {

// Whether a parameter can be packed at compile time.
bool can_pack(const Graph& graph, const ValueRef& ref) {
  const View view = view_of(graph, ref);
  return is_constant(graph[ref.id]) && is_static(view.shape) && is_static(view.strides) &&
         view.offset.is_static() && numel(view.shape) != SymSize(0);
}

}  // namespace

bool is_weight_gemm(const Graph& graph, const Node& node) {
  if (!is_gemm(node) || !has_code(node.dtype) || !has_static_numbers(node)) return false;
  if (!can_pack(graph, weights_of(node))) return false;
  const auto int8 = int8_mm_of(graph, node);
  if (int8 && int8->in_groups && !can_pack(graph, int8->scale)) return false;
  return has_matrix_access(graph, {}, node);
}

bool is_in_order(const Graph& graph, const ValueRef& ref, const Node& consumer) {
  const Node& value = graph[ref.id];
  if (value.strides != row_major(value.shape)) return false;
  const View view = view_of(graph, ref);
  return view.shape == consumer.shape && view.strides == row_major(view.shape) &&
         view.offset == SymSize(0) && numel(view.shape) == numel(value.shape);
}

SymDims broadcast_strides(const View& view, const SymDims& shape) {
  SymDims strides(shape.size(), SymSize(0));
  const size_t skipped = shape.size() - view.shape.size();
  for (size_t d = 0; d < view.shape.size(); ++d) {
    const bool broadcast = view.shape[d] == SymSize(1) && shape[skipped + d] != SymSize(1);
    strides[skipped + d] = broadcast ? SymSize(0) : view.strides[d];
  }
  return strides;
}

bool contains(const NodeSet& set, ValueId id) {
  return std::binary_search(set.begin(), set.end(), id);
}

NodeSet nodes_of_group(const Graph& graph, int group) {
  NodeSet set;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].group == group) set.push_back(static_cast<ValueId>(i));
  }
  return set;
}

NodeSet joined(const NodeSet& a, const NodeSet& b) {
  NodeSet set;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(set));
  return set;
}

std::vector<ValueId> results_of(const Graph& graph, const NodeSet& set) {
  std::vector<bool> read(graph.nodes.size(), false);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (contains(set, static_cast<ValueId>(i))) continue;
    for (const ValueId id : inputs_of(graph.nodes[i])) read[static_cast<size_t>(id)] = true;
  }
  for (const ValueId id : graph.outputs) read[static_cast<size_t>(id)] = true;
  std::vector<ValueId> results;
  for (const ValueId id : set) {
    if (read[static_cast<size_t>(id)]) results.push_back(id);
  }
  return results;
}

bool is_convex(const Graph& graph, const NodeSet& set) {
  // Marks all nodes outside the set that depend on it. A group runs as one kernel: if one member
  // depends on the set, all of them do.
  std::vector<bool> downstream(graph.nodes.size(), false);
  std::map<int, bool> group_downstream;
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const int group = graph.nodes[i].group;
      if (contains(set, static_cast<ValueId>(i)) || downstream[i]) continue;
      bool needs = group >= 0 && group_downstream[group];
      for (const ValueId id : inputs_of(graph.nodes[i])) {
        needs = needs || contains(set, id) || downstream[static_cast<size_t>(id)];
      }
      if (!needs) continue;
      downstream[i] = changed = true;
      if (group >= 0) group_downstream[group] = true;
    }
  }
  for (const ValueId id : set) {
    for (const ValueId input : inputs_of(graph[id])) {
      if (downstream[static_cast<size_t>(input)]) return false;
    }
  }
  return true;
}

std::optional<SymDims> common_shape(const Graph& graph, const NodeSet& set) {
  std::optional<SymDims> shape;
  for (const ValueId id : set) {
    for (const ValueRef& ref : references_of(graph[id])) {
      if (is_in_order(graph, ref, graph[id])) continue;
      // A value inside the set can only be read element by element.
      if (contains(set, ref.id) || (shape && *shape != graph[id].shape)) return std::nullopt;
      shape = graph[id].shape;
    }
  }
  return shape ? shape : graph[set.back()].shape;
}

std::optional<MatrixAccess> matrix_access(const Graph& graph, const ValueRef& ref,
                                          const Node& consumer, int64_t columns) {
  if (is_in_order(graph, ref, consumer)) return MatrixAccess{columns, 1};
  const SymDims& shape = consumer.shape;
  if (shape.size() < 2 || shape.back() != SymSize(columns)) return std::nullopt;
  const SymDims strides = broadcast_strides(view_of(graph, ref), shape);
  const auto row = merged_stride(shape, strides);
  const bool is_unit_or_zero = strides.back() == SymSize(0) || strides.back() == SymSize(1);
  if (!row || !row->is_static() || !is_unit_or_zero) return std::nullopt;
  return MatrixAccess{row->number(), strides.back().number()};
}

bool has_matrix_access(const Graph& graph, const NodeSet& set, const Node& gemm) {
  const int64_t columns = gemm.shape[1].number();
  const auto fits = [&](const Node& node, const ValueRef& ref) {
    const bool inside = contains(set, ref.id) || &graph[ref.id] == &gemm;
    return inside ? is_in_order(graph, ref, node)
                  : matrix_access(graph, ref, node, columns).has_value();
  };
  for (const ValueRef& ref : epilogue_operands_of(graph, gemm)) {
    if (!has_code(graph[ref.id].dtype) || !fits(gemm, ref)) return false;
  }
  for (const ValueId id : set) {
    if (is_gemm(graph[id])) continue;
    for (const ValueRef& ref : references_of(graph[id])) {
      if (!fits(graph[id], ref)) return false;
    }
  }
  return true;
}

bool has_few_operands(const Graph& graph, const NodeSet& set) {
  std::vector<ValueRef> outside;
  for (const ValueId id : set) {
    const Node& node = graph[id];
    for (const ValueRef& ref :
         is_gemm(node) ? epilogue_operands_of(graph, node) : references_of(node)) {
      const bool known = std::find(outside.begin(), outside.end(), ref) != outside.end();
      if (!known && !contains(set, ref.id)) outside.push_back(ref);
    }
  }
  return results_of(graph, set).size() + outside.size() <= cpu::kMaxFusedOperands;
}

Graph renumbered(Graph graph) {
  std::map<int, int> numbers;
  for (Node& node : graph.nodes) {
    if (node.group < 0) continue;
    const int next = static_cast<int>(numbers.size());
    node.group = numbers.emplace(node.group, next).first->second;
  }
  return graph;
}

}  // namespace epi::compiler
