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

// Whether a dimension can be dynamic: a leading one of an input whose strides follow from its
// sizes. With several inputs, a size of one is fixed because it broadcasts. With `conservative`, so
// is a size that equals the last dimension of another input, such as the rows of a weight that is
// an input.
bool can_be_dynamic(std::span<const Tensor> inputs, const Tensor& input, int d, bool conservative) {
  const bool leading = d + 1 < input.dim() && layout_of(input).order.has_value();
  if (!leading || inputs.size() == 1) return leading;
  const int64_t size = input.shape()[d];
  const auto ends_in_it = [&](const Tensor& other) {
    return other.dim() > 0 && other.shape().back() == size;
  };
  return size != 1 && !(conservative && std::any_of(inputs.begin(), inputs.end(), ends_in_it));
}

// Assigns symbols to dynamic dimensions. Equal sizes of several inputs share a symbol, because they
// must agree.
std::vector<SymDims> choose_symbols(std::span<const Tensor> inputs, bool conservative,
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
      if (!can_be_dynamic(inputs, input, d, conservative)) {
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

// The sizes of this call, by symbol.
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
  if (i >= graph.nodes.size()) return "ends";
  const Node& node = graph.nodes[i];
  if (node.kind != NodeKind::kOp) return "reads a tensor of shape " + to_string(node.shape);
  return fmt::format("calls {} with result {}", op_info(node.op).name, to_string(node.shape));
}

// Captures with dynamic sizes, represented by primes starting at `first_prime`.
Captured capture_dynamic(const TensorFunction& function, std::span<const Tensor> inputs,
                         const CaptureOptions& options, bool conservative, int64_t first_prime) {
  SymbolHints hints(first_prime);
  Captured result;
  for (const Tensor& input : inputs) result.input_layouts.push_back(layout_of(input));
  result.input_shapes = choose_symbols(inputs, conservative, options, hints);
  result.symbols = static_cast<int>(hints.hints().size());
  if (hints.hints().size() > kMaxSymbols) {
    fail("capture",
         "{} sizes are dynamic, but at most {} are supported: compile with dynamic = off",
         hints.hints().size(), kMaxSymbols);
  }
  result.graph = run(function, inputs, result.input_shapes, hints, hints.hints(), options);
  return result;
}

Captured capture_static(const TensorFunction& function, std::span<const Tensor> inputs,
                        const CaptureOptions& options) {
  Captured result;
  for (const Tensor& input : inputs) {
    result.input_layouts.push_back(layout_of(input));
    result.input_shapes.emplace_back(input.shape().begin(), input.shape().end());
  }
  result.graph = run(function, inputs, result.input_shapes, SymbolHints(), {}, options);
  return result;
}

// Lower bounds for the primes. A number in the function or in a parameter may happen to be a
// multiple of one, so there are several to try. Many symbols use small primes, because their
// product must fit in 64 bits.
std::array<int64_t, 3> primes_to_try(std::span<const Tensor> inputs) {
  int max_rank = 0;
  for (const Tensor& input : inputs) max_rank = std::max(max_rank, input.dim());
  return max_rank <= 5 ? std::array<int64_t, 3>{1009, 2003, 4001}
                       : std::array<int64_t, 3>{13, 53, 101};
}

}  // namespace

std::optional<std::string> difference_at(const TensorFunction& function,
                                         std::span<const Tensor> inputs,
                                         const CaptureOptions& options, const Captured& captured,
                                         std::span<const int64_t> sizes) {
  const Graph plain = run(function, inputs, captured.input_shapes, SymbolHints(), sizes, options);
  const Graph& symbolic = captured.graph;
  for (size_t i = 0; i < std::max(plain.nodes.size(), symbolic.nodes.size()); ++i) {
    const bool both = i < plain.nodes.size() && i < symbolic.nodes.size();
    if (both && is_same_at(symbolic.nodes[i], plain.nodes[i], sizes)) continue;
    if (both && plain.nodes[i].kind == NodeKind::kParameter &&
        symbolic.nodes[i].kind == NodeKind::kParameter) {
      return fmt::format("it reads a different tensor of shape {}",
                         to_string(plain.nodes[i].shape));
    }
    return fmt::format("it {}, but {} for other sizes", text_at(plain, i), text_at(symbolic, i));
  }
  if (plain.outputs != symbolic.outputs) return "it returns a different value for other sizes";
  return std::nullopt;
}

Captured capture(const TensorFunction& function, std::span<const Tensor> inputs,
                 const CaptureOptions& options) {
  if (!options.dynamic) return capture_static(function, inputs, options);
  std::string reason;
  for (const bool conservative : {false, true}) {
    if (conservative && inputs.size() == 1) continue;
    for (const int64_t prime : primes_to_try(inputs)) {
      try {
        Captured captured = capture_dynamic(function, inputs, options, conservative, prime);
        // Operators may skip a dimension of size one, so that case is checked when it occurs.
        auto sizes = sizes_of_call(inputs, captured);
        for (int64_t& size : sizes) size = std::max<int64_t>(size, 2);
        const auto difference = difference_at(function, inputs, options, captured, sizes);
        if (!difference) return captured;
        reason = "the function depends on sizes: " + *difference;
      } catch (const Error& error) {
        reason = fmt::format("the function requires fixed sizes ({})", error.what());
        break;
      }
    }
  }
  capture_static(function, inputs, options);  // rethrows errors that do not depend on dynamic sizes
  fail("capture", "{}; compile with dynamic = off", reason);
}

}  // namespace epi::compiler
