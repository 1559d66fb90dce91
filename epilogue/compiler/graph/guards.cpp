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
      input.shape.push_back(size.is_static() ? Size{-1, size.number()}
                                             : Size{size.symbols()[0], 0});
    }
    inputs_.push_back(std::move(input));
  }
}

bool Guards::accept(std::span<const Tensor> inputs, std::span<int64_t> symbols) const {
  if (inputs.size() != inputs_.size()) return false;
  std::fill(symbols.begin(), symbols.end(), kUnknown);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& wanted = inputs_[i];
    const Tensor& x = inputs[i];
    if (x.dtype() != wanted.dtype || x.device() != wanted.device ||
        static_cast<size_t>(x.dim()) != wanted.shape.size()) {
      return false;
    }
    if (!lies_like(x, wanted.layout)) return false;
    for (size_t d = 0; d < wanted.shape.size(); ++d) {
      const int64_t size = x.shape()[static_cast<int>(d)];
      const int symbol = wanted.shape[d].symbol;
      if (symbol < 0) {
        if (size != wanted.shape[d].value) return false;
        continue;
      }
      int64_t& known = symbols[static_cast<size_t>(symbol)];
      if (known != kUnknown && known != size) return false;
      known = size;
    }
  }
  return true;
}

std::string Guards::refusal(std::span<const Tensor> inputs) const {
  if (inputs.size() != inputs_.size()) {
    return fmt::format("{} inputs, were {}", inputs.size(), inputs_.size());
  }
  std::vector<int64_t> symbols(symbols_, kUnknown);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Input& was = inputs_[i];
    const Tensor& x = inputs[i];
    if (x.dtype() != was.dtype) {
      return fmt::format("{} is {}, was {}", was.name, epi::name(x.dtype()), epi::name(was.dtype));
    }
    if (x.device() != was.device) {
      return fmt::format("{} is on {}, was on {}", was.name, epi::name(x.device()),
                         epi::name(was.device));
    }
    if (static_cast<size_t>(x.dim()) != was.shape.size()) {
      return fmt::format("{} has {} dimensions, had {}", was.name, x.dim(), was.shape.size());
    }
    for (size_t d = 0; d < was.shape.size(); ++d) {
      const int64_t size = x.shape()[static_cast<int>(d)];
      const auto [symbol, value] = was.shape[d];
      if (symbol < 0 && size != value) {
        return fmt::format("dimension {} of {} is {}, was {}", d, was.name, size, value);
      }
      if (symbol < 0) continue;
      int64_t& known = symbols[static_cast<size_t>(symbol)];
      if (known != kUnknown && known != size) {
        return fmt::format("dimension {} of {} is {}, where another input has {}", d, was.name,
                           size, known);
      }
      known = size;
    }
    if (!lies_like(x, was.layout)) {
      return fmt::format("{} {} has strides {}, had {} at first", was.name, to_string(x.shape()),
                         to_string(x.strides()), to_string(was.strides));
    }
  }
  return "nothing";
}

}  // namespace epi::compiler
