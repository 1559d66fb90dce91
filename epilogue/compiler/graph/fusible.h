// SPDX-License-Identifier: Apache-2.0
// What may become one kernel: the questions that the grouping passes ask.
#pragma once

#include <optional>
#include <vector>

#include "epilogue/compiler/graph/graph.h"

namespace epi::compiler {

// Kernels are written for these; others stay with the library.
bool has_code(DType dtype);
// One of the operators that fused code can hold, on dtypes that it knows.
bool is_pointwise(const Graph& graph, const Node& node);
// mm or addmm.
bool is_gemm(const Node& node);
// A GEMM of any rows with weights that are known now.
bool is_weight_gemm(const Graph& graph, const Node& node);
// The operands of a GEMM.
const ValueRef& rows_of(const Node& gemm);
const ValueRef& weights_of(const Node& gemm);

// The operand is a whole row-major value, seen element by element in the consumer's own order.
bool is_in_order(const Graph& graph, const ValueRef& ref, const Node& consumer);

// The strides of an operand as its consumer's shape broadcasts it.
SymDims broadcast_strides(const View& view, const SymDims& shape);

// Nodes by number that become, or might become, one kernel.
using NodeSet = std::vector<ValueId>;  // sorted

bool contains(const NodeSet& set, ValueId id);
NodeSet nodes_of_group(const Graph& graph, int group);
NodeSet joined(const NodeSet& a, const NodeSet& b);
// The values that are read outside of the set, which its kernel must write.
std::vector<ValueId> results_of(const Graph& graph, const NodeSet& set);
// No value leaves the set and comes back: it can run as one.
bool is_convex(const Graph& graph, const NodeSet& set);
// The one shape over which a pointwise kernel of these nodes can walk; none where operands that
// are broadcast or strided disagree about it.
std::optional<SymDims> common_shape(const Graph& graph, const NodeSet& set);

// An operand under a matrix [rows, columns], by strides that are numbers; the column stride is 0
// or 1. None where the operand does not lie like that.
struct MatrixAccess {
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};
std::optional<MatrixAccess> under_matrix(const Graph& graph, const ValueRef& ref,
                                         const Node& consumer, int64_t columns);
// Every operand from outside of the set, but for the GEMMs' own, lies under the matrix.
bool fits_under_matrix(const Graph& graph, const NodeSet& set, const Node& gemm);

// Numbers of groups without gaps, in the order of their first nodes.
Graph renumbered(Graph graph);

}  // namespace epi::compiler
