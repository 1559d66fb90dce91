// SPDX-License-Identifier: Apache-2.0
// The graph of a captured function: values in the order in which they are made, each by one
// primitive operator, with shapes that may hold symbols. Operators are functions of their operands:
// nothing is written in place, and a view is a value like any other. Passes are functions
// Graph -> Graph; `to_string` prints what they did.
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

using ValueId = int;  // its node's place in the graph

struct NoOperand {
  bool operator==(const NoOperand&) const = default;
};
// How an operand is seen where that is not its value's own layout: what views left behind.
struct View {
  SymDims shape;
  SymDims strides;
  SymSize offset{0};
  std::vector<Op> through;  // the view operators, from the value on

  bool operator==(const View&) const = default;
};
struct ValueRef {
  ValueId id = 0;
  std::optional<View> view{};
  bool operator==(const ValueRef&) const = default;
};
// An argument of an operator: absent, one value, several, a size, sizes, a number, a flag, a text.
using Operand = std::variant<NoOperand, ValueRef, std::vector<ValueRef>, SymSize, SymDims, double,
                             bool, std::string>;

enum class NodeKind { kInput, kParameter, kOp };

struct Node {
  NodeKind kind = NodeKind::kOp;
  Op op = Op::kAdd;  // of kOp
  std::vector<Operand> operands{};
  SymDims shape{};
  SymDims strides{};
  SymSize offset{0};  // of a view, into what it is a view of
  DType dtype = DType::kF32;
  std::string name{};    // of inputs and parameters
  Tensor parameter{};    // of kParameter
  bool copied = false;   // of kParameter: a pass made it of others
  bool rounded = false;  // of a GEMM: rounded to its dtype before an epilogue reads it
  int group = -1;        // nodes of one group become one kernel; -1: a kernel of the library
};

struct Graph {
  std::vector<Node> nodes;
  std::vector<ValueId> outputs;

  const Node& operator[](ValueId id) const { return nodes[static_cast<size_t>(id)]; }
};

bool is_view(const Node& node);

// An operand that is a number, as a real or as a size.
double number_in(const Operand& operand);

SymSize numel(const SymDims& shape);
SymDims row_major(const SymDims& shape);
// How a node's operand sees its value: the view, or the value's own layout.
View seen(const Graph& graph, const ValueRef& ref);

// The value below a chain of views.
ValueId base_of(const Graph& graph, ValueId id);

// Calls `change` with every operand that is a value.
template <typename Change>
void for_each_ref(Node& node, Change&& change) {
  for (Operand& operand : node.operands) {
    if (auto* ref = std::get_if<ValueRef>(&operand)) change(*ref);
    if (auto* refs = std::get_if<std::vector<ValueRef>>(&operand)) {
      for (ValueRef& ref : *refs) change(ref);
    }
  }
}

// The operands that are values, in order; one that is read twice stands twice.
std::vector<ValueRef> references_of(const Node& node);
std::vector<ValueId> inputs_of(const Node& node);

// How often a value is read, by nodes and as an output.
int count_readers(const Graph& graph, ValueId id);

// Whether two nodes are the same when the first one's symbols have these values.
bool is_same_at(const Node& symbolic, const Node& plain, std::span<const int64_t> values);

// A new graph with the nodes that `keep` says; every operand goes through `replaced` first, which
// gives the value to read instead, of the old graph. Outputs likewise.
struct Rewrite {
  std::vector<bool> keep;
  std::vector<ValueId> replaced;
};
Rewrite identity(const Graph& graph);
Graph apply(const Graph& graph, const Rewrite& rewrite);

// Every value on a line of its own, with its operator, operands, dtype, shape, and strides where
// they are not row-major; nodes of a group end in its number: "in kernel 0".
std::string to_string(const Graph& graph);

}  // namespace epi::compiler
