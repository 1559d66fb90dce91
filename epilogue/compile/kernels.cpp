// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "epilogue/base/error.h"
#include "epilogue/compile/fusion.h"

namespace epi::compiler {
namespace {

bool is_product(const Node& node) { return node.op == Op::kMm || node.op == Op::kAddmm; }

double number_in(const Operand& operand) {
  if (const auto* real = std::get_if<double>(&operand)) return *real;
  return static_cast<double>(std::get<SymSize>(operand).factor());
}

// Collects the arithmetic of a group: values inside by their nodes, values outside as inputs.
class ProgramBuilder {
 public:
  explicit ProgramBuilder(const Graph& graph) : graph_(graph) {}

  // Sums of a GEMM come first.
  void add_sum(ValueId product) { values_[product] = program.inputs++; }
  // Every outside operand has an input before the first step.
  void add_outside(const ValueRef& ref, const Node& consumer) {
    const bool known = std::any_of(outside.begin(), outside.end(),
                                   [&](const Outside& other) { return other.ref == ref; });
    if (values_.count(ref.id) != 0 || known) return;
    outside.push_back({ref, &consumer, program.inputs++});
  }

  void add_step(ValueId id) {
    const Node& node = graph_[id];
    Step step;
    step.op = node.op;
    for (const Operand& operand : node.operands) {
      if (const auto* text = std::get_if<std::string>(&operand)) {
        step.by_tanh = *text == "tanh";
      } else {
        step.terms.push_back(term(operand));
      }
    }
    if (node.op == Op::kCopy_ && node.dtype != DType::kF32) step.rounded_to = node.dtype;
    values_[id] = push(std::move(step));
  }

  // beta * self + alpha * sum, in place of the sum.
  void finish_addmm(ValueId id) {
    const Node& node = graph_[id];
    const double beta = number_in(node.operands[3]);
    const double alpha = number_in(node.operands[4]);
    Term sum{values_.at(id), 0};
    if (alpha != 1) sum.value = push({Op::kMul, {sum, {-1, alpha}}});
    if (beta != 0) sum.value = push({Op::kAdd, {sum, term(node.operands[0]), {-1, beta}}});
    values_[id] = sum.value;
  }

  void add_output(ValueId id) { program.outputs.push_back(values_.at(id)); }

  struct Outside {
    ValueRef ref;
    const Node* consumer;
    int value;
  };
  Program program;
  std::vector<Outside> outside;

 private:
  int push(Step step) {
    program.steps.push_back(std::move(step));
    return program.inputs + static_cast<int>(program.steps.size()) - 1;
  }

  Term term(const Operand& operand) const {
    const auto* ref = std::get_if<ValueRef>(&operand);
    if (ref == nullptr) return {-1, number_in(operand)};
    const auto inside = values_.find(ref->id);
    if (inside != values_.end()) return {inside->second, 0};
    for (const Outside& one : outside) {
      if (one.ref == *ref) return {one.value, 0};
    }
    throw BugError("a fused operator reads what its kernel does not");
  }

  const Graph& graph_;
  std::map<ValueId, int> values_;
};

Access access(const Graph& graph, const ValueRef& ref, SymDims strides) {
  return {ref.id, seen(graph, ref).offset, std::move(strides)};
}

Along along(const SymDims& shape, const SymDims& strides) {
  size_t inner = shape.size();
  while (inner > 0 && shape[inner - 1] == SymSize(1)) --inner;
  if (inner == 0 || strides[inner - 1] == SymSize(0)) return Along::kBroadcast;
  return strides[inner - 1] == SymSize(1) ? Along::kDense : Along::kStrided;
}

std::vector<ValueId> each_once(std::vector<ValueId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

Kernel pointwise_kernel(const Graph& graph, const NodeSet& nodes) {
  ProgramBuilder builder(graph);
  PointwiseKernel kernel;
  kernel.shape = *common_shape(graph, nodes);
  for (const ValueId id : nodes) {
    for (const ValueRef& ref : references_of(graph[id])) {
      if (!std::binary_search(nodes.begin(), nodes.end(), ref.id)) {
        builder.add_outside(ref, graph[id]);
      }
    }
  }
  for (const ValueId id : nodes) builder.add_step(id);
  Kernel result;
  result.outputs = results_of(graph, nodes);
  for (const ValueId id : result.outputs) {
    builder.add_output(id);
    kernel.code.outputs.push_back(graph[id].dtype);
  }
  for (const auto& outside : builder.outside) {
    SymDims strides = is_in_order(graph, outside.ref, *outside.consumer)
                          ? row_major(kernel.shape)
                          : broadcast_strides(seen(graph, outside.ref), kernel.shape);
    kernel.code.inputs.push_back({graph[outside.ref.id].dtype, along(kernel.shape, strides)});
    kernel.inputs.push_back(access(graph, outside.ref, std::move(strides)));
    result.inputs.push_back(outside.ref.id);
  }
  kernel.code.program = std::move(builder.program);
  result.name = "epi_poi_fused_" + fused_name(graph, nodes);
  result.inputs = each_once(std::move(result.inputs));
  result.body = std::move(kernel);
  return result;
}

void describe_product(const Graph& graph, const Node& product, GemmKernel& kernel) {
  const View rows = seen(graph, rows_of(product));
  const View weights = seen(graph, weights_of(product));
  kernel.code.dtype = product.dtype;
  kernel.code.n = weights.shape[1].factor();
  kernel.code.k = weights.shape[0].factor();
  kernel.rows = rows.shape[0];
  kernel.x = access(graph, rows_of(product), rows.strides);
}

Kernel gemm_kernel(const Graph& graph, const NodeSet& nodes) {
  ProgramBuilder builder(graph);
  GemmKernel kernel;
  kernel.code.products = 0;
  for (const ValueId id : nodes) {
    if (!is_product(graph[id])) continue;
    ++kernel.code.products;
    builder.add_sum(id);
    describe_product(graph, graph[id], kernel);
    kernel.weights.push_back(weights_of(graph[id]).id);
    kernel.weight_views.push_back(seen(graph, weights_of(graph[id])));
  }
  for (const ValueId id : nodes) {
    const Node& node = graph[id];
    if (node.op == Op::kMm) continue;
    const auto refs = node.op == Op::kAddmm ? std::vector{std::get<ValueRef>(node.operands[0])}
                                            : references_of(node);
    for (const ValueRef& ref : refs) {
      if (!std::binary_search(nodes.begin(), nodes.end(), ref.id)) builder.add_outside(ref, node);
    }
  }
  for (const ValueId id : nodes) {
    if (graph[id].op == Op::kAddmm) builder.finish_addmm(id);
    if (!is_product(graph[id])) builder.add_step(id);
  }
  Kernel result;
  result.outputs = results_of(graph, nodes);
  for (const ValueId id : result.outputs) {
    builder.add_output(id);
    kernel.code.outputs.push_back(graph[id].dtype);
  }
  result.inputs = {kernel.x.value};
  result.inputs.insert(result.inputs.end(), kernel.weights.begin(), kernel.weights.end());
  for (const auto& outside : builder.outside) {
    const auto lies = under_matrix(graph, outside.ref, *outside.consumer, kernel.code.n);
    EPI_CHECK(lies.has_value());
    kernel.code.operands.push_back(
        {graph[outside.ref.id].dtype, lies->row_stride, lies->column_stride});
    kernel.operands.push_back(access(graph, outside.ref, {}));
    result.inputs.push_back(outside.ref.id);
  }
  kernel.code.program = std::move(builder.program);
  result.name = "epi_tem_fused_" + fused_name(graph, nodes);
  result.inputs = each_once(std::move(result.inputs));
  result.body = std::move(kernel);
  return result;
}

Kernel library_kernel(const Graph& graph, ValueId id) {
  Kernel kernel;
  kernel.name = op_info(graph[id].op).name;
  kernel.body = LibraryKernel{id};
  kernel.outputs = {id};
  kernel.inputs = each_once(inputs_of(graph[id]));
  return kernel;
}

// Every kernel's nodes, by the order of their first nodes.
std::vector<NodeSet> units_of(const Graph& graph) {
  std::vector<NodeSet> units;
  std::set<int> seen_groups;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (node.kind != NodeKind::kOp || is_view(node)) continue;
    if (node.group < 0) {
      units.push_back({static_cast<ValueId>(i)});
    } else if (seen_groups.insert(node.group).second) {
      units.push_back(nodes_of_group(graph, node.group));
    }
  }
  return units;
}

// Runs after everything that it reads; among those that are ready, the first comes first.
std::vector<NodeSet> in_running_order(const Graph& graph, std::vector<NodeSet> units) {
  std::vector<bool> ready(graph.nodes.size());
  const auto settle = [&] {
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      const bool given = node.kind != NodeKind::kOp;
      ready[i] =
          ready[i] || given || (is_view(node) && ready[static_cast<size_t>(inputs_of(node)[0])]);
    }
  };
  const auto can_run = [&](const NodeSet& nodes) {
    for (const ValueId id : nodes) {
      for (const ValueId input : inputs_of(graph[id])) {
        const bool inside = std::binary_search(nodes.begin(), nodes.end(), input);
        if (!inside && !ready[static_cast<size_t>(input)]) return false;
      }
    }
    return true;
  };
  std::vector<NodeSet> ordered;
  while (!units.empty()) {
    settle();
    const auto next = std::find_if(units.begin(), units.end(), can_run);
    EPI_CHECK(next != units.end());
    for (const ValueId id : *next) ready[static_cast<size_t>(id)] = true;
    ordered.push_back(std::move(*next));
    units.erase(next);
  }
  return ordered;
}

}  // namespace

std::string fused_name(const Graph& graph, const std::vector<ValueId>& nodes) {
  std::set<std::string> ops;
  for (const ValueId id : nodes) {
    const Node& node = graph[id];
    ops.emplace(op_info(node.op).name.substr(6));
    if (is_product(node)) continue;
    for (const ValueRef& ref : references_of(node)) {
      if (!ref.view) continue;
      for (const Op view : ref.view->through) ops.emplace(op_info(view).name.substr(6));
    }
  }
  return fmt::format("{}", fmt::join(ops, "_"));
}

std::vector<Kernel> list_kernels(const Graph& graph) {
  std::vector<Kernel> kernels;
  for (const NodeSet& nodes : in_running_order(graph, units_of(graph))) {
    const bool fused = graph[nodes[0]].group >= 0;
    const bool has_product =
        std::any_of(nodes.begin(), nodes.end(), [&](ValueId id) { return is_product(graph[id]); });
    if (!fused) {
      kernels.push_back(library_kernel(graph, nodes[0]));
    } else {
      kernels.push_back(has_product ? gemm_kernel(graph, nodes) : pointwise_kernel(graph, nodes));
    }
  }
  return kernels;
}

}  // namespace epi::compiler
