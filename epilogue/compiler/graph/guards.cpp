// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/guards.h"

#include <fmt/format.h>

#include <algorithm>

namespace epi::compiler {
namespace {

constexpr int64_t kUnknown = -1;

}  // namespace

Guards::Guards(const Captured& captured, std::span<const Tensor> inputs)
    : symbols_(static_cast<size_t>(captured.symbols)) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    Input input;
    input.dtype = inputs[i].dtype();
    input.device = inputs[i].device();
    input.layout = captured.input_layouts[i];
    input.strides = inputs[i].strides();
    input.name = captured.graph.nodes[i].name;
    for (const SymSize& size : captured.input_shapes[i]) {
      input.shape.push_back(size_for(size));
    }
    inputs_.push_back(std::move(input));
  }
  for (const SymSize& integer : captured.integers) integers_.push_back(size_for(integer));
}

Guards::Size Guards::size_for(const SymSize& size) {
  const auto symbol = size.as_symbol();
  return symbol ? Size{*symbol, 0} : Size{-1, size.number()};
}

bool Guards::accept(const CallArgs& args, std::span<int64_t> symbols) const {
  const std::span<const Tensor> inputs = args.tensors;
  if (inputs.size() != inputs_.size() || args.integers.size() != integers_.size()) return false;
  std::fill(symbols.begin(), symbols.end(), kUnknown);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& expected = inputs_[i];
    const Tensor& x = inputs[i];
    if (x.dtype() != expected.dtype || x.device() != expected.device ||
        static_cast<size_t>(x.dim()) != expected.shape.size()) {
      return false;
    }
    if (!matches_layout(x, expected.layout)) return false;
    for (size_t d = 0; d < expected.shape.size(); ++d) {
      const int64_t size = x.shape()[static_cast<int>(d)];
      const int symbol = expected.shape[d].symbol;
      if (symbol < 0) {
        if (size != expected.shape[d].value) return false;
        continue;
      }
      int64_t& known = symbols[static_cast<size_t>(symbol)];
      if (known != kUnknown && known != size) return false;
      known = size;
    }
  }
  for (size_t i = 0; i < integers_.size(); ++i) {
    const auto [symbol, value] = integers_[i];
    if (symbol < 0 && args.integers[i] != value) return false;
    if (symbol >= 0) symbols[static_cast<size_t>(symbol)] = args.integers[i];
  }
  return true;
}

std::set<InputDim> Guards::changed_sizes(std::span<const Tensor> inputs) const {
  std::set<InputDim> changed;
  for (size_t i = 0; i < std::min(inputs.size(), inputs_.size()); ++i) {
    const std::vector<Size>& shape = inputs_[i].shape;
    if (static_cast<size_t>(inputs[i].dim()) != shape.size()) return {};
    for (size_t d = 0; d < shape.size(); ++d) {
      const bool fixed = shape[d].symbol < 0;
      if (fixed && inputs[i].shape()[static_cast<int>(d)] != shape[d].value) {
        changed.emplace(static_cast<int>(i), static_cast<int>(d));
      }
    }
  }
  return changed;
}

std::string Guards::mismatch(const CallArgs& args) const {
  std::string found = mismatch_of_inputs(args.tensors);
  if (!found.empty()) return found;
  if (args.integers.size() != integers_.size()) {
    return fmt::format("the number of integers is {}, was {}", args.integers.size(),
                       integers_.size());
  }
  for (size_t i = 0; i < integers_.size(); ++i) {
    if (integers_[i].symbol < 0 && args.integers[i] != integers_[i].value) {
      return fmt::format("integer {} is {}, was {}", i, args.integers[i], integers_[i].value);
    }
  }
  return "nothing";
}

std::string Guards::mismatch_of_inputs(std::span<const Tensor> inputs) const {
  if (inputs.size() != inputs_.size()) {
    return fmt::format("the number of inputs is {}, was {}", inputs.size(), inputs_.size());
  }
  std::vector<int64_t> symbols(symbols_, kUnknown);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& recorded = inputs_[i];
    const Tensor& x = inputs[i];
    if (x.dtype() != recorded.dtype) {
      return fmt::format("{} is {}, was {}", recorded.name, epi::name(x.dtype()),
                         epi::name(recorded.dtype));
    }
    if (x.device() != recorded.device) {
      return fmt::format("{} is on {}, was on {}", recorded.name, epi::name(x.device()),
                         epi::name(recorded.device));
    }
    if (static_cast<size_t>(x.dim()) != recorded.shape.size()) {
      return fmt::format("{} has {} dimensions, had {}", recorded.name, x.dim(),
                         recorded.shape.size());
    }
    for (size_t d = 0; d < recorded.shape.size(); ++d) {
      const int64_t size = x.shape()[static_cast<int>(d)];
      const auto [symbol, value] = recorded.shape[d];
      if (symbol < 0 && size != value) {
        return fmt::format("dimension {} of {} is {}, was {}", d, recorded.name, size, value);
      }
      if (symbol < 0) continue;
      int64_t& known = symbols[static_cast<size_t>(symbol)];
      if (known != kUnknown && known != size) {
        return fmt::format("dimension {} of {} is {}, but another input has {}", d, recorded.name,
                           size, known);
      }
      known = size;
    }
    if (!matches_layout(x, recorded.layout)) {
      return fmt::format("{} {} has strides {}, had {}", recorded.name, to_string(x.shape()),
                         to_string(x.strides()), to_string(recorded.strides));
    }
  }
  return "";
}

}  // namespace epi::compiler
