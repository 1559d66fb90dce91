// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/kernel_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/compiler/graph/fusible.h"
#include "epilogue/compiler/plan/program_builder.h"

namespace epi::compiler {
namespace {

Access access(const Graph& graph, const ValueRef& ref, SymDims strides) {
  return {ref.id, view_of(graph, ref).offset, std::move(strides)};
}

Along along(const SymDims& shape, const SymDims& strides) {
  size_t inner = shape.size();
  while (inner > 0 && shape[inner - 1] == SymSize(1)) --inner;
  if (inner == 0 || strides[inner - 1] == SymSize(0)) return Along::kBroadcast;
  return strides[inner - 1] == SymSize(1) ? Along::kDense : Along::kStrided;
}

std::vector<ValueId> sorted_unique(std::vector<ValueId> ids) {
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

// Adds the external operands: those of the group's pointwise nodes, and those that the epilogues of
// its GEMMs read.
void add_outside(const Graph& graph, const NodeSet& nodes, ProgramBuilder& builder) {
  for (const ValueId id : nodes) {
    const Node& node = graph[id];
    const auto refs = is_gemm(node) ? epilogue_operands_of(graph, node) : references_of(node);
    for (const ValueRef& ref : refs) {
      if (!contains(nodes, ref.id)) {
        builder.add_outside(ref, node);
      } else {
        EPI_CHECK(is_in_order(graph, ref, node));
      }
    }
  }
}

// Creates a kernel without its body: name, outputs and inputs.
Kernel make_kernel(const Graph& graph, const NodeSet& nodes, const char* prefix,
                   std::vector<ValueId> inputs, ProgramBuilder& builder) {
  Kernel kernel;
  kernel.name = prefix + fused_name(graph, nodes);
  kernel.outputs = results_of(graph, nodes);
  for (const ValueId id : kernel.outputs) builder.add_output(id);
  for (const auto& outside : builder.outside()) inputs.push_back(outside.ref.id);
  kernel.inputs = sorted_unique(std::move(inputs));
  return kernel;
}

std::vector<DType> dtypes_of(const Graph& graph, const std::vector<ValueId>& values) {
  std::vector<DType> dtypes;
  for (const ValueId id : values) dtypes.push_back(graph[id].dtype);
  return dtypes;
}

Kernel pointwise_kernel(const Graph& graph, const NodeSet& nodes) {
  ProgramBuilder builder(graph);
  add_outside(graph, nodes, builder);
  for (const ValueId id : nodes) builder.add_step(id);
  Kernel kernel = make_kernel(graph, nodes, "epi_poi_fused_", {}, builder);
  PointwiseKernel body;
  const auto shape = common_shape(graph, nodes);
  EPI_CHECK(shape.has_value());
  body.shape = *shape;
  body.code.program = builder.program();
  body.code.outputs = dtypes_of(graph, kernel.outputs);
  for (const auto& outside : builder.outside()) {
    SymDims strides = is_in_order(graph, outside.ref, *outside.consumer)
                          ? row_major(body.shape)
                          : broadcast_strides(view_of(graph, outside.ref), body.shape);
    body.code.inputs.push_back({graph[outside.ref.id].dtype, along(body.shape, strides)});
    body.inputs.push_back(access(graph, outside.ref, std::move(strides)));
  }
  kernel.body = std::move(body);
  return kernel;
}

// The sizes, rows and weights of the group's GEMMs. Adds their sums as the first inputs of the
// program.
GemmKernel make_gemm_body(const Graph& graph, const NodeSet& nodes, ProgramBuilder& builder) {
  GemmKernel body;
  body.code.gemms = 0;
  for (const ValueId id : nodes) {
    const Node& gemm = graph[id];
    if (!is_gemm(gemm)) continue;
    const View rows = view_of(graph, rows_of(gemm));
    const View weights = view_of(graph, weights_of(gemm));
    ++body.code.gemms;
    body.code.dtype = gemm.dtype;
    body.code.n = weights.shape[1].number();
    body.code.k = weights.shape[0].number();
    body.rows = rows.shape[0];
    body.x = access(graph, rows_of(gemm), rows.strides);
    body.weights.push_back(weights_of(gemm).id);
    body.weight_views.push_back(weights);
    if (const auto int8 = int8_mm_of(graph, gemm)) {
      body.code.int8 = Int8Code{int8->int8_input, int8->in_groups};
      if (int8->in_groups) body.scales.push_back(int8->scale);
    }
    builder.add_sum(id);
  }
  return body;
}

Kernel gemm_kernel(const Graph& graph, const NodeSet& nodes) {
  ProgramBuilder builder(graph);
  GemmKernel body = make_gemm_body(graph, nodes, builder);
  add_outside(graph, nodes, builder);
  for (const ValueId id : nodes) {
    if (graph[id].op == Op::kAddmm) builder.finish_addmm(id);
    if (graph[id].op == Op::kInt8Mm) builder.finish_int8_mm(id);
    if (graph[id].rounded && nodes.size() > 1) {
      builder.round(id);
      body.code.exact = true;
    }
    if (!is_gemm(graph[id])) builder.add_step(id);
  }
  std::vector<ValueId> inputs = body.weights;
  inputs.push_back(body.x.value);
  for (const ValueRef& scale : body.scales) inputs.push_back(scale.id);
  Kernel kernel = make_kernel(graph, nodes, "epi_tem_fused_", std::move(inputs), builder);
  body.code.program = builder.program();
  body.code.outputs = dtypes_of(graph, kernel.outputs);
  for (const auto& outside : builder.outside()) {
    const auto matrix = matrix_access(graph, outside.ref, *outside.consumer, body.code.n);
    EPI_CHECK(matrix.has_value());
    body.code.operands.push_back(
        {graph[outside.ref.id].dtype, matrix->row_stride, matrix->column_stride});
    body.operands.push_back(access(graph, outside.ref, {}));
  }
  kernel.body = std::move(body);
  return kernel;
}

Kernel library_kernel(const Graph& graph, ValueId id) {
  Kernel kernel;
  kernel.name = op_info(graph[id].op).name;
  kernel.body = LibraryKernel{id};
  if (!graph[id].in_place) kernel.outputs = {id};
  kernel.inputs = sorted_unique(inputs_of(graph[id]));
  return kernel;
}

// The nodes of each kernel, in the order of their first nodes.
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

// Topological order: a kernel follows all kernels that it reads from. Among those that are ready,
// the original order applies.
std::vector<NodeSet> in_execution_order(const Graph& graph, std::vector<NodeSet> units) {
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
        if (!contains(nodes, input) && !ready[static_cast<size_t>(input)]) return false;
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
    ops.emplace(short_name(op_info(node.op)));
    if (is_gemm(node)) continue;
    for (const ValueRef& ref : references_of(node)) {
      if (!ref.view) continue;
      for (const Op view : ref.view->through) ops.emplace(short_name(op_info(view)));
    }
  }
  return join(ops, "_");
}

std::vector<Kernel> list_kernels(const Graph& graph) {
  std::vector<Kernel> kernels;
  for (const NodeSet& nodes : in_execution_order(graph, units_of(graph))) {
    const bool fused = graph[nodes[0]].group >= 0;
    const bool has_gemm =
        std::any_of(nodes.begin(), nodes.end(), [&](ValueId id) { return is_gemm(graph[id]); });
    if (!fused) {
      kernels.push_back(library_kernel(graph, nodes[0]));
    } else {
      kernels.push_back(has_gemm ? gemm_kernel(graph, nodes) : pointwise_kernel(graph, nodes));
    }
  }
  return kernels;
}

}  // namespace epi::compiler
