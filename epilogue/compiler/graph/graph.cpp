// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/ops/functional.h"

namespace epi::compiler {
namespace {

// Constants that a function creates in each call are compared by value up to this many elements.
constexpr int64_t kMaxCompared = 1 << 20;

template <typename... Ts>
struct Overloaded : Ts... {
  using Ts::operator()...;
};
template <typename... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

// Inputs and parameters are printed by name, other values by consecutive numbers.
class Printer {
 public:
  explicit Printer(const Graph& graph) : graph_(graph), names_(graph.nodes.size()) {
    int next = 0;
    for (size_t i = 0; i < graph.nodes.size(); ++i) {
      const Node& node = graph.nodes[i];
      names_[i] = node.kind == NodeKind::kOp ? fmt::format("%{}", next++) : node.name;
    }
  }

  std::string print() const {
    std::string out;
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::string line = fmt::format("{} = {}", names_[i], definition(graph_.nodes[i]));
      out += fmt::format("{:<48} {}\n", line, type_of(graph_.nodes[i]));
    }
    std::vector<std::string> outputs;
    for (const ValueId id : graph_.outputs) outputs.push_back(name(id));
    return out + fmt::format("return {}\n", join(outputs, ", "));
  }

 private:
  const std::string& name(ValueId id) const { return names_[static_cast<size_t>(id)]; }

  std::string definition(const Node& node) const {
    if (node.kind == NodeKind::kInput) return "input";
    if (node.kind == NodeKind::kParameter) return "parameter";
    std::vector<std::string> operands;
    for (const Operand& operand : node.operands) operands.push_back(text_of(operand));
    return fmt::format("{}({})", short_name(op_info(node.op)), join(operands, ", "));
  }

  std::string text_of(const Operand& operand) const {
    const auto list = [&](const std::vector<ValueRef>& refs) {
      std::vector<std::string> texts;
      for (const ValueRef& ref : refs) texts.push_back(text_of(ref));
      return fmt::format("[{}]", join(texts, ", "));
    };
    return std::visit(
        Overloaded{[](const NoOperand&) { return std::string("-"); },
                   [&](const ValueRef& ref) { return text_of(ref); }, list,
                   [](const SymSize& size) { return to_string(size); },
                   [](const SymDims& dims) { return to_string(dims); },
                   [](double number) { return fmt::format("{:g}", number); },
                   [](bool flag) { return std::string(flag ? "true" : "false"); },
                   [](const std::string& text) { return fmt::format("\"{}\"", text); }},
        operand);
  }

  // "w{[768, 3072] strides [1, 768]}" for an operand with a view.
  std::string text_of(const ValueRef& ref) const {
    if (!ref.view) return name(ref.id);
    std::string view = to_string(ref.view->shape);
    if (ref.view->strides != row_major(ref.view->shape)) {
      view += " strides " + to_string(ref.view->strides);
    }
    if (ref.view->offset != SymSize(0)) view += " offset " + to_string(ref.view->offset);
    return fmt::format("{}{{{}}}", name(ref.id), view);
  }

  static std::string type_of(const Node& node) {
    std::string out = fmt::format("{}{}", epi::name(node.dtype), to_string(node.shape));
    if (node.strides != row_major(node.shape)) out += " strides " + to_string(node.strides);
    if (node.rounded) out += " rounded";
    if (node.group >= 0) out += fmt::format(" in kernel {}", node.group);
    return out;
  }

  const Graph& graph_;
  std::vector<std::string> names_;
};

}  // namespace

SymSize numel(const SymDims& shape) {
  SymSize product(1);
  for (const SymSize& size : shape) product = product * size;
  return product;
}

SymDims row_major(const SymDims& shape) {
  SymDims strides(shape.size(), SymSize(1));
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

View view_of(const Graph& graph, const ValueRef& ref) {
  if (ref.view) return *ref.view;
  return {graph[ref.id].shape, graph[ref.id].strides, SymSize(0), {}};
}

double number_in(const Operand& operand) {
  if (const auto* real = std::get_if<double>(&operand)) return *real;
  return static_cast<double>(std::get<SymSize>(operand).number());
}

bool is_view(const Node& node) {
  return node.kind == NodeKind::kOp && op_info(node.op).kind == OpKind::kView;
}

bool is_constant(const Node& node) { return node.kind == NodeKind::kParameter && !node.written; }

ValueId root_of(const Graph& graph, ValueId id) {
  while (is_view(graph[id])) id = std::get<ValueRef>(graph[id].operands[0]).id;
  return id;
}

ValueId base_of(const Graph& graph, ValueId id) {
  while (is_view(graph[id]) || graph[id].in_place) {
    id = std::get<ValueRef>(graph[id].operands[0]).id;
  }
  return id;
}

std::vector<bool> written_values(const Graph& graph) {
  std::vector<bool> written(graph.nodes.size(), false);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].in_place) {
      written[static_cast<size_t>(base_of(graph, static_cast<ValueId>(i)))] = true;
    }
  }
  return written;
}

bool may_form(const Graph& graph, Op op) {
  return std::find(graph.replaced.begin(), graph.replaced.end(), op) == graph.replaced.end();
}

std::vector<ValueRef> references_of(const Node& node) {
  std::vector<ValueRef> refs;
  for_each_ref(node, [&](const ValueRef& ref) { refs.push_back(ref); });
  return refs;
}

std::vector<ValueId> inputs_of(const Node& node) {
  std::vector<ValueId> ids;
  for_each_ref(node, [&](const ValueRef& ref) { ids.push_back(ref.id); });
  return ids;
}

int count_readers(const Graph& graph, ValueId id) {
  auto readers = std::count(graph.outputs.begin(), graph.outputs.end(), id);
  for (const Node& node : graph.nodes) {
    const auto inputs = inputs_of(node);
    readers += std::count(inputs.begin(), inputs.end(), id);
  }
  return static_cast<int>(readers);
}

namespace {

// Strides along a size of one, or of a tensor without elements, do not matter.
bool has_same_strides(const SymDims& shape, const SymDims& a, const SymDims& b) {
  if (std::count(shape.begin(), shape.end(), SymSize(0)) > 0) return true;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] != SymSize(1) && a[d] != b[d]) return false;
  }
  return true;
}

// Whether the bytes are equal: the same tensor, or two with the same contents.
bool is_same_tensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.layout() != b.layout()) return false;
  if (a.storage() == b.storage() && a.offset() == b.offset()) return true;
  if (!a.is_contiguous() || a.numel() > kMaxCompared || a.device() != b.device()) return false;
  const Tensor x = to(a, kCpu);
  const Tensor y = to(b, kCpu);
  return std::memcmp(x.raw_data(), y.raw_data(), static_cast<size_t>(x.size_bytes())) == 0;
}

}  // namespace

bool is_same_operand(const Operand& a, const Operand& b) {
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  const bool both_nan = x != nullptr && y != nullptr && std::isnan(*x) && std::isnan(*y);
  return both_nan || a == b;
}

bool is_same_at(const Node& symbolic, const Node& plain, std::span<const int64_t> values) {
  const auto fixed = [&](const SymDims& dims) {
    SymDims numbers;
    for (const SymSize& size : dims) numbers.emplace_back(size.at(values));
    return numbers;
  };
  Node node = symbolic;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    Operand& operand = node.operands[i];
    if (auto* dims = std::get_if<SymDims>(&operand)) *dims = fixed(*dims);
    const auto* size = std::get_if<SymSize>(&operand);
    if (size == nullptr) continue;
    const int64_t number = size->at(values);
    const bool is_real =
        i < plain.operands.size() && std::holds_alternative<double>(plain.operands[i]);
    operand = is_real ? Operand(static_cast<double>(number)) : Operand(SymSize(number));
  }
  const bool same_operands =
      std::equal(node.operands.begin(), node.operands.end(), plain.operands.begin(),
                 plain.operands.end(), is_same_operand);
  if (plain.kind == NodeKind::kParameter) {
    return node.kind == plain.kind && is_same_tensor(node.parameter, plain.parameter);
  }
  return node.kind == plain.kind && node.op == plain.op && node.in_place == plain.in_place &&
         same_operands && fixed(node.shape) == plain.shape && node.dtype == plain.dtype &&
         node.offset.at(values) == plain.offset.at(values) &&
         has_same_strides(plain.shape, fixed(node.strides), plain.strides);
}

Rewrite identity(const Graph& graph) {
  Rewrite rewrite;
  rewrite.keep.assign(graph.nodes.size(), true);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    rewrite.replaced.push_back(static_cast<ValueId>(i));
  }
  return rewrite;
}

Graph apply(const Graph& graph, const Rewrite& rewrite) {
  Graph result;
  result.taken = graph.taken;
  result.replaced = graph.replaced;
  std::vector<ValueId> places(graph.nodes.size(), -1);
  const auto place_of = [&](ValueId id) {
    const ValueId place = places[static_cast<size_t>(rewrite.replaced[static_cast<size_t>(id)])];
    EPI_CHECK(place >= 0);
    return place;
  };
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!rewrite.keep[i]) continue;
    Node node = graph.nodes[i];
    for_each_ref(node, [&](ValueRef& ref) { ref.id = place_of(ref.id); });
    places[i] = static_cast<ValueId>(result.nodes.size());
    result.nodes.push_back(std::move(node));
  }
  for (const ValueId output : graph.outputs) result.outputs.push_back(place_of(output));
  return result;
}

std::string to_string(const Graph& graph) { return Printer(graph).print(); }

}  // namespace epi::compiler
