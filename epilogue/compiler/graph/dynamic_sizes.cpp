// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/dynamic_sizes.h"

#include <algorithm>
#include <map>
#include <optional>

#include "epilogue/base/error.h"

namespace epi::compiler {
namespace {

std::optional<Size> rule_for(std::span<const Tensor> inputs, const InputDim& dim,
                             const std::vector<InputSize>& given) {
  std::optional<Size> found;
  for (const InputSize& rule : given) {
    if (rule.input != dim.first) continue;
    if (dimension_of(inputs, rule) == dim.second) found = rule.size;
  }
  return found;
}

// Whether another input than `self` has this size, not as its last one.
bool is_leading_size(std::span<const Tensor> inputs, int self, int64_t size) {
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    const Dims& shape = inputs[static_cast<size_t>(i)].shape();
    for (int d = 0; i != self && d + 1 < shape.rank(); ++d) {
      if (shape[d] == size) return true;
    }
  }
  return false;
}

// Whether the caller said that a size of this value is free.
bool is_free_size(std::span<const Tensor> inputs, int64_t size,
                  const std::vector<InputSize>& given) {
  return std::any_of(given.begin(), given.end(), [&](const InputSize& rule) {
    return rule.size == Size::kFree &&
           inputs[static_cast<size_t>(rule.input)].shape()[dimension_of(inputs, rule)] == size;
  });
}

bool is_dynamic(std::span<const Tensor> inputs, const InputDim& dim, SizeGuess guess,
                const SizeRules& rules) {
  const auto [i, d] = dim;
  const Tensor& input = inputs[static_cast<size_t>(i)];
  const int64_t size = input.shape()[d];
  const bool may_broadcast = inputs.size() > 1 && size == 1;
  if (const auto rule = rule_for(inputs, dim, rules.given)) {
    return *rule == Size::kFree && (!may_broadcast || guess == SizeGuess::kBroad);
  }
  if (rules.fixed.contains(dim) || may_broadcast) return false;
  if (guess == SizeGuess::kBroad && is_free_size(inputs, size, rules.given)) return true;
  if (rules.changed.contains(dim)) return true;
  if (d + 1 == input.dim()) {
    return guess == SizeGuess::kBroad && d > 0 && input.shape()[d - 1] == size &&
           is_leading_size(inputs, i, size);
  }
  const auto ends_in_it = [&](const Tensor& other) {
    return other.dim() > 0 && other.shape().back() == size;
  };
  return inputs.size() == 1 || guess != SizeGuess::kConservative ||
         std::none_of(inputs.begin(), inputs.end(), ends_in_it);
}

}  // namespace

int dimension_of(std::span<const Tensor> inputs, const InputSize& rule) {
  const int rank = inputs[static_cast<size_t>(rule.input)].dim();
  return rule.dimension < 0 ? rule.dimension + rank : rule.dimension;
}

void check_rules(std::span<const Tensor> inputs, const std::vector<InputSize>& given) {
  for (const InputSize& rule : given) {
    if (rule.input < 0 || static_cast<size_t>(rule.input) >= inputs.size()) {
      fail("compile", "sizes: there is no input {}, only {}", rule.input, inputs.size());
    }
    const Tensor& input = inputs[static_cast<size_t>(rule.input)];
    const int d = dimension_of(inputs, rule);
    if (d < 0 || d >= input.dim()) {
      fail("compile", "sizes: input {} has {} dimensions, and no dimension {}", rule.input,
           input.dim(), rule.dimension);
    }
  }
}

std::vector<SymDims> choose_symbols(std::span<const Tensor> inputs, SizeGuess guess,
                                    const SizeRules& rules, std::vector<int64_t> avoid,
                                    SymbolHints& hints) {
  for (const Tensor& input : inputs) {
    avoid.insert(avoid.end(), input.shape().begin(), input.shape().end());
    avoid.insert(avoid.end(), input.strides().begin(), input.strides().end());
  }
  const bool shares = inputs.size() > 1 || guess == SizeGuess::kEqual;
  std::map<int64_t, Symbol> by_size;
  std::vector<SymDims> shapes;
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    SymDims shape;
    const Dims& sizes = inputs[static_cast<size_t>(i)].shape();
    for (int d = 0; d < sizes.rank(); ++d) {
      if (!is_dynamic(inputs, {i, d}, guess, rules)) {
        shape.emplace_back(sizes[d]);
        continue;
      }
      const auto known = by_size.find(sizes[d]);
      const bool is_known = shares && known != by_size.end();
      const Symbol symbol = is_known ? known->second : hints.add(avoid);
      by_size[sizes[d]] = symbol;
      shape.push_back(SymSize::symbol(symbol));
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

bool has_free(const std::vector<InputDim>& dims, std::span<const Tensor> inputs,
              const std::vector<InputSize>& given) {
  return std::any_of(dims.begin(), dims.end(), [&](const InputDim& dim) {
    return rule_for(inputs, dim, given) == Size::kFree;
  });
}

}  // namespace epi::compiler
