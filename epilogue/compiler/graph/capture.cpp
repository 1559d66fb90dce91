// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "epilogue/base/error.h"
#include "epilogue/compiler/graph/graph_recorder.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

// Which dimensions may be free: leading ones of inputs whose strides follow from their sizes. Among
// several inputs a size of one is fixed, because it broadcasts; with `careful`, so is one that
// another input has as its last: the rows of a weight that is an input.
bool may_be_free(std::span<const Tensor> inputs, const Tensor& input, int d, bool careful) {
  const bool leading = d + 1 < input.dim() && layout_of(input).order.has_value();
  if (!leading || inputs.size() == 1) return leading;
  const int64_t size = input.shape()[d];
  const auto ends_in_it = [&](const Tensor& other) {
    return other.dim() > 0 && other.shape().back() == size;
  };
  return size != 1 && !(careful && std::any_of(inputs.begin(), inputs.end(), ends_in_it));
}

// The symbols of free dimensions: equal sizes of several inputs are one, as they must agree.
std::vector<SymDims> choose_symbols(std::span<const Tensor> inputs, bool careful,
                                    const CaptureOptions& options, SymbolHints& hints) {
  std::vector<int64_t> fixed;
  for (const Tensor& input : inputs) {
    fixed.insert(fixed.end(), input.shape().begin(), input.shape().end());
  }
  for (const NamedTensor& parameter : options.parameters) {
    const Dims& shape = parameter.tensor.shape();
    fixed.insert(fixed.end(), shape.begin(), shape.end());
  }
  std::map<int64_t, Symbol> by_size;
  std::vector<SymDims> shapes;
  for (const Tensor& input : inputs) {
    SymDims shape;
    for (int d = 0; d < input.dim(); ++d) {
      const int64_t size = input.shape()[d];
      if (!may_be_free(inputs, input, d, careful)) {
        shape.emplace_back(size);
      } else if (inputs.size() == 1) {
        shape.push_back(SymSize::symbol(hints.add(fixed)));
      } else {
        const auto known = by_size.find(size);
        if (known == by_size.end()) by_size[size] = hints.add(fixed);
        shape.push_back(SymSize::symbol(by_size[size]));
      }
    }
    shapes.push_back(std::move(shape));
  }
  return shapes;
}

Graph run(const TensorFunction& function, std::span<const Tensor> inputs,
          const std::vector<SymDims>& shapes, const SymbolHints& hints,
          std::span<const int64_t> sizes, const CaptureOptions& options) {
  GraphRecorder recorder(hints, options.parameters);
  std::vector<Tensor> metas;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Dims shape;
    for (const SymSize& size : shapes[i]) shape.push_back(size.at(sizes));
    const std::string name =
        i < options.input_names.size() ? options.input_names[i] : fmt::format("x{}", i);
    const Layout layout{shape, strides_for(layout_of(inputs[i]), shape)};
    metas.push_back(recorder.add_input(name, meta_tensor(layout, inputs[i].dtype())));
  }
  const ActiveCapture active(&recorder);
  return recorder.take(function(metas));
}

// The sizes of this call.
std::vector<int64_t> sizes_of_call(std::span<const Tensor> inputs, const Captured& captured) {
  std::vector<int64_t> sizes(static_cast<size_t>(captured.symbols));
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t d = 0; d < captured.input_shapes[i].size(); ++d) {
      const SymSize& size = captured.input_shapes[i][d];
      if (size.is_static()) continue;
      sizes[static_cast<size_t>(size.symbols()[0])] = inputs[i].shape()[static_cast<int>(d)];
    }
  }
  return sizes;
}

std::string text_at(const Graph& graph, size_t i) {
  if (i >= graph.nodes.size()) return "nothing";
  const Node& node = graph.nodes[i];
  if (node.kind != NodeKind::kOp) return "for a tensor of " + to_string(node.shape);
  return fmt::format("{} to {}", op_info(node.op).name, to_string(node.shape));
}

// Captures with free sizes that stand for primes from `first_prime` on.
Captured capture_free(const TensorFunction& function, std::span<const Tensor> inputs,
                      const CaptureOptions& options, bool careful, int64_t first_prime) {
  SymbolHints hints(first_prime);
  Captured result;
  for (const Tensor& input : inputs) result.input_layouts.push_back(layout_of(input));
  result.input_shapes = choose_symbols(inputs, careful, options, hints);
  result.symbols = static_cast<int>(hints.hints().size());
  if (hints.hints().size() > kMaxSymbols) {
    fail("capture", "{} sizes are free, at most {} can be: compile it with dynamic = off",
         hints.hints().size(), kMaxSymbols);
  }
  result.graph = run(function, inputs, result.input_shapes, hints, hints.hints(), options);
  return result;
}

Captured capture_fixed(const TensorFunction& function, std::span<const Tensor> inputs,
                       const CaptureOptions& options) {
  Captured result;
  for (const Tensor& input : inputs) {
    result.input_layouts.push_back(layout_of(input));
    result.input_shapes.emplace_back(input.shape().begin(), input.shape().end());
  }
  result.graph = run(function, inputs, result.input_shapes, SymbolHints(), {}, options);
  return result;
}

// Where primes begin. A number in the function, or in a parameter, may be a multiple of one by
// chance; then others are tried. Many symbols take small ones: their product must fit 64 bits.
std::array<int64_t, 3> primes_to_try(std::span<const Tensor> inputs) {
  int most = 0;
  for (const Tensor& input : inputs) most = std::max(most, input.dim());
  return most <= 5 ? std::array<int64_t, 3>{1009, 2003, 4001} : std::array<int64_t, 3>{13, 53, 101};
}

}  // namespace

std::optional<std::string> difference_at(const TensorFunction& function,
                                         std::span<const Tensor> inputs,
                                         const CaptureOptions& options, const Captured& captured,
                                         std::span<const int64_t> sizes) {
  const Graph plain = run(function, inputs, captured.input_shapes, SymbolHints(), sizes, options);
  const Graph& free = captured.graph;
  for (size_t i = 0; i < std::max(plain.nodes.size(), free.nodes.size()); ++i) {
    const bool both = i < plain.nodes.size() && i < free.nodes.size();
    if (both && is_same_at(free.nodes[i], plain.nodes[i], sizes)) continue;
    if (both && plain.nodes[i].kind == NodeKind::kParameter &&
        free.nodes[i].kind == NodeKind::kParameter) {
      return fmt::format("it reads another tensor of {}", to_string(plain.nodes[i].shape));
    }
    return fmt::format("it calls {} where it calls {} for others", text_at(plain, i),
                       text_at(free, i));
  }
  if (plain.outputs != free.outputs) return "it returns another value for others";
  return std::nullopt;
}

Captured capture(const TensorFunction& function, std::span<const Tensor> inputs,
                 const CaptureOptions& options) {
  if (!options.dynamic) return capture_fixed(function, inputs, options);
  std::string why;
  for (const bool careful : {false, true}) {
    if (careful && inputs.size() == 1) continue;
    for (const int64_t prime : primes_to_try(inputs)) {
      try {
        Captured captured = capture_free(function, inputs, options, careful, prime);
        // A dimension of one may be skipped by operators: it is looked at when it comes.
        auto sizes = sizes_of_call(inputs, captured);
        for (int64_t& size : sizes) size = std::max<int64_t>(size, 2);
        const auto difference = difference_at(function, inputs, options, captured, sizes);
        if (!difference) return captured;
        why = "the function looks at sizes: " + *difference;
      } catch (const Error& error) {
        why = fmt::format("the function needs its sizes as they are ({})", error.what());
        break;
      }
    }
  }
  capture_fixed(function, inputs, options);  // a mistake of the caller's is his to see
  fail("capture", "{}; compile it with dynamic = off", why);
}

}  // namespace epi::compiler
