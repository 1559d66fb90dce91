// SPDX-License-Identifier: Apache-2.0
// The graph of a captured function: values in order of definition, each produced by one primitive
// operator, with shapes that may contain symbols. A view is a value like any other. Operators are
// pure, except copy_ into an existing tensor: its value is that tensor after the copy, in the same
// memory, and whatever reads the tensor later reads this value. Passes are functions
// Graph -> Graph. `to_string` prints a graph.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "epilogue/compiler/graph/sym_size.h"
#include "epilogue/ops/op.h"
#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

using ValueId = int;  // the index of its node

struct NoOperand {
  bool operator==(const NoOperand&) const = default;
};
// The layout in which a node reads an operand, if it is not the value's own. Views are folded into
// it.
struct View {
  SymDims shape;
  SymDims strides;
  SymSize offset{0};
  std::vector<Op> through;  // the folded view operators, starting at the value

  bool operator==(const View&) const = default;
};
struct ValueRef {
  ValueId id = 0;
  std::optional<View> view{};
  bool operator==(const ValueRef&) const = default;
};
// An operator argument: absent, a value, several values, a size, sizes, a number, a flag or a
// string.
using Operand = std::variant<NoOperand, ValueRef, std::vector<ValueRef>, SymSize, SymDims, double,
                             bool, std::string>;

enum class NodeKind { kInput, kParameter, kOp };

struct Node {
  NodeKind kind = NodeKind::kOp;
  Op op = Op::kAdd;  // for kOp
  std::vector<Operand> operands{};
  SymDims shape{};
  SymDims strides{};
  SymSize offset{0};  // for a view: relative to its base
  DType dtype = DType::kF32;
  std::string name{};     // for inputs and parameters
  Tensor parameter{};     // for kParameter
  bool replaced = false;  // its operator's kernel was replaced: no pass may change or fuse it
  bool written = false;   // the function writes into its memory
  // For copy_: writes operands[1] into operands[0], a view of the tensor whose value this node is.
  // An optional operands[2] lists the values that read the tensor before.
  bool in_place = false;
  bool copied = false;   // for kParameter: a pass built it from other parameters
  bool rounded = false;  // for a GEMM: round to its dtype before an epilogue reads it
  int group = -1;        // nodes of one group become one kernel; -1: a library kernel
};

// A parameter whose values are part of a graph or of its code, so that it must not change.
struct TakenParameter {
  TakenParameter(std::string name_in, const Tensor& tensor_in)
      : name(std::move(name_in)), tensor(tensor_in), version(tensor.storage()->version()) {}
  bool has_changed() const { return tensor.storage()->version() != version; }

  std::string name;
  Tensor tensor;
  uint64_t version;  // when it was read
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<ValueId> outputs;
  std::vector<TakenParameter> taken{};  // whose values passes have copied or folded
  std::vector<Op> replaced{};           // operators whose kernels were replaced

  const Node& operator[](ValueId id) const { return nodes[static_cast<size_t>(id)]; }
};

bool is_view(const Node& node);
// A parameter whose values may become part of the code.
bool is_constant(const Node& node);

// The value of a numeric operand, given as a real or as a size.
double number_in(const Operand& operand);

SymSize numel(const SymDims& shape);
SymDims row_major(const SymDims& shape);
// The layout in which an operand is read: its view, or the value's own layout.
View view_of(const Graph& graph, const ValueRef& ref);

// The value at the start of a chain of views.
ValueId root_of(const Graph& graph, ValueId id);
// The value whose memory a value shares: the start of a chain of views and writes.
ValueId base_of(const Graph& graph, ValueId id);
// By value: whether the function writes into its memory.
std::vector<bool> written_values(const Graph& graph);

// Calls `visit` for every operand that is a value. With a node that is not const, it may change
// them.
template <typename AnyNode, typename Visit>
void for_each_ref(AnyNode& node, Visit&& visit) {
  for (auto& operand : node.operands) {
    if (auto* ref = std::get_if<ValueRef>(&operand)) visit(*ref);
    if (auto* refs = std::get_if<std::vector<ValueRef>>(&operand)) {
      for (auto& ref : *refs) visit(ref);
    }
  }
}

// Whether passes may call the operator instead of others.
bool may_form(const Graph& graph, Op op);

// The operands that are values, in order, including duplicates.
std::vector<ValueRef> references_of(const Node& node);
std::vector<ValueId> inputs_of(const Node& node);

// The number of reads of a value, by nodes and as an output.
int count_readers(const Graph& graph, ValueId id);

// Whether two operands are equal. NaN is equal to itself.
bool is_same_operand(const Operand& a, const Operand& b);
// Whether two nodes are equal when the symbols of the first have these values.
bool is_same_at(const Node& symbolic, const Node& plain, std::span<const int64_t> values);

// Builds a new graph from the nodes marked in `keep`. `replaced` maps each value of the old graph
// to the value that operands and outputs read instead.
struct Rewrite {
  std::vector<bool> keep;
  std::vector<ValueId> replaced;
};
Rewrite identity(const Graph& graph);
Graph apply(const Graph& graph, const Rewrite& rewrite);

// Prints one value per line, with its operator, operands, dtype, shape, and strides unless they are
// row-major. Nodes of a group end in its number: "in kernel 0".
std::string to_string(const Graph& graph);

}  // namespace epi::compiler
