// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/guards.h"

#include <fmt/format.h>

#include <algorithm>

namespace epi::compiler {
namespace {

constexpr int64_t kUnknown = INT64_MIN;

}  // namespace

Guards::Guards(const Captured& captured, std::span<const Tensor> inputs)
    : symbols_(static_cast<size_t>(captured.symbols)) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    Input input;
    input.dtype = inputs[i].dtype();
    input.device = inputs[i].device();
    input.strides = inputs[i].strides();
    input.name = captured.graph.nodes[i].name;
    const InputLayout& layout = captured.input_layouts[i];
    for (const int64_t d : layout.order) {
      const SymSize& size = captured.input_shapes[i][static_cast<size_t>(d)];
      const auto index = static_cast<int>(d);
      input.dims.push_back({index, size_for(size), layout.strides[index]});
    }
    inputs_.push_back(std::move(input));
  }
  for (const SymSize& integer : captured.integers) integers_.push_back(size_for(integer));
}

Guards::Size Guards::size_for(const SymSize& size) {
  const auto symbol = size.as_symbol();
  return symbol ? Size{*symbol, 0} : Size{-1, size.number()};
}

// Ignores the strides of dimensions of size one, and of empty tensors.
bool Guards::accept(const Tensor& x, const Input& expected, std::span<int64_t> symbols) {
  if (x.dtype() != expected.dtype || x.device() != expected.device ||
      static_cast<size_t>(x.dim()) != expected.dims.size()) {
    return false;
  }
  const Dims& shape = x.shape();
  const Dims& strides = x.strides();
  bool same_strides = true;
  int64_t next = 1;  // the stride that follows from the dimensions so far
  for (size_t i = expected.dims.size(); i-- > 0;) {
    const auto& [d, fixed, known_stride] = expected.dims[i];
    const int64_t size = shape[d];
    if (fixed.symbol < 0) {
      if (size != fixed.value) return false;
    } else {
      int64_t& known = symbols[static_cast<size_t>(fixed.symbol)];
      if (known != kUnknown && known != size) return false;
      known = size;
    }
    const int64_t stride = known_stride == InputLayout::kFollows ? next : known_stride;
    same_strides &= strides[d] == stride || size == 1;
    next = stride * size;
  }
  return same_strides || x.numel() == 0;
}

bool Guards::accept(const CallArgs& args, std::span<int64_t> symbols) const {
  const std::span<const Tensor> inputs = args.tensors;
  if (inputs.size() != inputs_.size() || args.integers.size() != integers_.size()) return false;
  for (int64_t& symbol : symbols) symbol = kUnknown;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!accept(inputs[i], inputs_[i], symbols)) return false;
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
    const std::vector<Dimension>& dims = inputs_[i].dims;
    if (static_cast<size_t>(inputs[i].dim()) != dims.size()) return {};
    for (const auto& [d, size, stride] : dims) {
      const bool fixed = size.symbol < 0;
      if (fixed && inputs[i].shape()[d] != size.value) changed.emplace(static_cast<int>(i), d);
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
    if (static_cast<size_t>(x.dim()) != recorded.dims.size()) {
      return fmt::format("{} has {} dimensions, had {}", recorded.name, x.dim(),
                         recorded.dims.size());
    }
    for (const auto& dimension : recorded.dims) {
      const int d = dimension.index;
      const int64_t size = x.shape()[d];
      const auto [symbol, value] = dimension.size;
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
    if (!accept(x, recorded, symbols)) {
      return fmt::format("{} {} has strides {}, had {}", recorded.name, to_string(x.shape()),
                         to_string(x.strides()), to_string(recorded.strides));
    }
  }
  return "";
}

}  // namespace epi::compiler
