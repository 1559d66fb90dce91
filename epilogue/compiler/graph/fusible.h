// SPDX-License-Identifier: Apache-2.0
// Predicates for the grouping passes: which nodes can become one kernel.
#pragma once

#include <optional>
#include <vector>

#include "epilogue/compiler/graph/graph.h"

namespace epi::compiler {

// Whether kernels are generated for the dtype. Other dtypes stay with the library.
bool has_code(DType dtype);
// An operator that fused code supports, on supported dtypes.
bool is_pointwise(const Graph& graph, const Node& node);
// mm, addmm or int8_mm, unless its kernel was replaced.
bool is_gemm(const Node& node);
// A GEMM whose weights are known at compile time.
bool is_weight_gemm(const Graph& graph, const Node& node);
// The operands of a GEMM.
const ValueRef& rows_of(const Node& gemm);
const ValueRef& weights_of(const Node& gemm);
// The operands that the epilogue of a GEMM reads: the addend of addmm; the bias of int8_mm, and its
// scale if there is one per column.
std::vector<ValueRef> epilogue_operands_of(const Graph& graph, const Node& gemm);

// The properties of an int8_mm.
struct Int8Mm {
  ValueRef scale;          // [n, groups]
  bool in_groups = false;  // more than one scale per column
  bool int8_input = false;
};
// nullopt for other operators.
std::optional<Int8Mm> int8_mm_of(const Graph& graph, const Node& gemm);
// The scale of an int8_mm with one scale per column, as a row of its result.
ValueRef scale_row_of(const Graph& graph, const Node& gemm);

// Whether the consumer reads the operand element by element in its own order: the whole value,
// row-major.
bool is_in_order(const Graph& graph, const ValueRef& ref, const Node& consumer);

// The strides of an operand broadcast to its consumer's shape.
SymDims broadcast_strides(const View& view, const SymDims& shape);

// The ids of nodes that are, or could become, one kernel.
using NodeSet = std::vector<ValueId>;  // sorted

bool contains(const NodeSet& set, ValueId id);
NodeSet nodes_of_group(const Graph& graph, int group);
NodeSet joined(const NodeSet& a, const NodeSet& b);
// The values read outside the set, which its kernel must write.
std::vector<ValueId> results_of(const Graph& graph, const NodeSet& set);
// Whether no value leaves the set and comes back, so that it can run as one kernel.
bool is_convex(const Graph& graph, const NodeSet& set);
// The single shape over which a pointwise kernel of these nodes can iterate, or nullopt if
// broadcast or strided operands require different shapes.
std::optional<SymDims> common_shape(const Graph& graph, const NodeSet& set);

// How a [rows, columns] kernel addresses an operand, with static strides. The column stride is 0
// or 1.
struct MatrixAccess {
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};
// nullopt if no such strides address the operand.
std::optional<MatrixAccess> matrix_access(const Graph& graph, const ValueRef& ref,
                                          const Node& consumer, int64_t columns);
// Whether every operand from outside the set has a MatrixAccess, except those of the GEMMs.
bool has_matrix_access(const Graph& graph, const NodeSet& set, const Node& gemm);

// Whether a kernel of these nodes has no more results and operands than a kernel may have, not
// counting x and the weights of its GEMMs.
bool has_few_operands(const Graph& graph, const NodeSet& set);

// Renumbers the groups without gaps, in the order of their first nodes.
Graph renumbered(Graph graph);

}  // namespace epi::compiler
