// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/sums.h"

#include <algorithm>
#include <cmath>

namespace epi::compiler {
namespace {

// Finds the sums for the numbers at one place of the graphs.
class SumFinder {
 public:
  SumFinder(const SymbolHints& hints, const std::vector<OtherCapture>& others)
      : hints_(hints), others_(others) {}

  // `number` is the one in the first capture, `numbers` those in the others.
  std::optional<SymSize> find(int64_t number, const std::vector<int64_t>& numbers) const {
    return find(number, numbers, std::vector<bool>(hints_.hints().size(), false));
  }

 private:
  bool agrees(const SymSize& size, const std::vector<int64_t>& numbers) const {
    for (size_t i = 0; i < others_.size(); ++i) {
      if (size.at(others_[i].values) != numbers[i]) return false;
    }
    return true;
  }

  // `used` are the symbols of the terms found so far.
  std::optional<SymSize> find(int64_t number, const std::vector<int64_t>& numbers,
                              const std::vector<bool>& used) const {
    const bool is_constant =
        std::all_of(numbers.begin(), numbers.end(), [&](int64_t other) { return other == number; });
    if (is_constant) return SymSize(number);
    SymSize product = hints_.read(number);
    if (agrees(product, numbers)) return product;
    for (size_t symbol = 0; symbol < used.size(); ++symbol) {
      if (used[symbol]) continue;
      if (const auto sum = find_along(symbol, number, numbers, used)) return sum;
    }
    return std::nullopt;
  }

  // slope * symbol + rest. The rest may be a sum of other symbols.
  std::optional<SymSize> find_along(size_t symbol, int64_t number,
                                    const std::vector<int64_t>& numbers,
                                    std::vector<bool> used) const {
    const int64_t step = others_[symbol].values[symbol] - hints_.hints()[symbol];
    const int64_t growth = numbers[symbol] - number;
    if (growth == 0 || growth % step != 0) return std::nullopt;
    const SymSize slope = hints_.read(growth / step);
    const SymSize term = slope * SymSize::symbol(static_cast<Symbol>(symbol));
    std::vector<int64_t> rests;
    for (size_t i = 0; i < others_.size(); ++i) {
      rests.push_back(numbers[i] - term.at(others_[i].values));
    }
    used[symbol] = true;
    const auto rest = find(number - term.at(hints_.hints()), rests, used);
    return rest ? std::optional(term + *rest) : std::nullopt;
  }

  const SymbolHints& hints_;
  const std::vector<OtherCapture>& others_;
};

// Replaces the numbers of one node.
class NodeReader {
 public:
  NodeReader(const SymbolHints& hints, const std::vector<OtherCapture>& others, size_t index)
      : hints_(hints), others_(others), finder_(hints, others), index_(index) {}

  bool read(Node& node) {
    for (const OtherCapture& other : others_) {
      const Node& same = other.graph.nodes[index_];
      if (same.kind != node.kind || same.op != node.op) return false;
    }
    for (size_t i = 0; i < node.operands.size(); ++i) {
      if (std::holds_alternative<double>(node.operands[i])) {
        replace_number(node.operands[i], i);
      } else if (auto* size = std::get_if<SymSize>(&node.operands[i])) {
        replace(*size, [&](const Node& other) -> const SymSize* {
          return i < other.operands.size() ? std::get_if<SymSize>(&other.operands[i]) : nullptr;
        });
      } else if (auto* dims = std::get_if<SymDims>(&node.operands[i])) {
        replace(*dims, [&](const Node& other) -> const SymDims* {
          return i < other.operands.size() ? std::get_if<SymDims>(&other.operands[i]) : nullptr;
        });
      }
    }
    replace(node.shape, [](const Node& other) { return &other.shape; });
    replace(node.strides, [](const Node& other) { return &other.strides; });
    replace(node.offset, [](const Node& other) { return &other.offset; });
    return found_all_;
  }

 private:
  // A number such as the factor of `mul` may be an integer argument, too.
  void replace_number(Operand& operand, size_t i) {
    const auto whole = [](const Operand& other) -> std::optional<SymSize> {
      const auto* number = std::get_if<double>(&other);
      if (number == nullptr || std::abs(*number) > 1e15 || std::trunc(*number) != *number) {
        return std::nullopt;
      }
      return SymSize(static_cast<int64_t>(*number));
    };
    std::vector<SymSize> numbers;
    bool is_same = true;
    for (const OtherCapture& other : others_) {
      const Node& node = other.graph.nodes[index_];
      is_same = is_same && i < node.operands.size() && is_same_operand(node.operands[i], operand);
      const auto number = i < node.operands.size() ? whole(node.operands[i]) : std::nullopt;
      numbers.push_back(number.value_or(SymSize(0)));
      found_all_ = found_all_ && (is_same || number);
    }
    const auto first = whole(operand);
    if (is_same || !first || !found_all_) {
      found_all_ = found_all_ && is_same;
      return;
    }
    SymSize size = *first;
    size_t next = 0;
    replace(size, [&](const Node&) { return &numbers[next++]; });
    operand = size;
  }

  // `size_in` returns the same number in another capture's node, or null.
  template <typename SizeIn>
  void replace(SymSize& size, const SizeIn& size_in) {
    std::vector<int64_t> numbers;
    for (const OtherCapture& other : others_) {
      const SymSize* number = size_in(other.graph.nodes[index_]);
      if (number == nullptr) {
        found_all_ = false;
        return;
      }
      numbers.push_back(number->number());
    }
    if (auto found = finder_.find(size.at(hints_.hints()), numbers)) {
      size = std::move(*found);
    } else {
      found_all_ = false;
    }
  }

  template <typename DimsIn>
  void replace(SymDims& dims, const DimsIn& dims_in) {
    for (size_t d = 0; d < dims.size(); ++d) {
      replace(dims[d], [&](const Node& other) -> const SymSize* {
        const SymDims* others = dims_in(other);
        return others != nullptr && d < others->size() ? &(*others)[d] : nullptr;
      });
    }
  }

  const SymbolHints& hints_;
  const std::vector<OtherCapture>& others_;
  SumFinder finder_;
  size_t index_;
  bool found_all_ = true;
};

}  // namespace

std::optional<Graph> with_sums(const Graph& captured, const SymbolHints& hints,
                               const std::vector<OtherCapture>& others) {
  for (const OtherCapture& other : others) {
    if (other.graph.nodes.size() != captured.nodes.size()) return std::nullopt;
  }
  Graph graph = captured;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].kind == NodeKind::kParameter) continue;
    if (!NodeReader(hints, others, i).read(graph.nodes[i])) return std::nullopt;
  }
  return graph;
}

}  // namespace epi::compiler
