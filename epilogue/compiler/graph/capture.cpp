// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/graph/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/compiler/graph/graph_recorder.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

std::string input_name(const CaptureOptions& options, size_t i) {
  return i < options.input_names.size() ? options.input_names[i] : fmt::format("x{}", i);
}

std::string size_name(const CaptureOptions& options, const InputDim& dim) {
  return fmt::format("{}.size({})", input_name(options, static_cast<size_t>(dim.first)),
                     dim.second);
}

std::string size_name(std::span<const Tensor> inputs, const CaptureOptions& options,
                      const InputSize& rule) {
  return size_name(options, {rule.input, dimension_of(inputs, rule)});
}

Graph run(const TensorFunction& function, std::span<const Tensor> inputs,
          const std::vector<SymDims>& shapes, const SymbolHints& hints,
          std::span<const int64_t> sizes, const CaptureOptions& options) {
  GraphRecorder recorder(hints, options.parameters);
  std::vector<Tensor> metas;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Dims shape;
    for (const SymSize& size : shapes[i]) shape.push_back(size.at(sizes));
    const Layout layout{shape, strides_for(layout_of(inputs[i]), shape)};
    metas.push_back(
        recorder.add_input(input_name(options, i), meta_tensor(layout, inputs[i].dtype())));
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

// The dimensions that have a symbol.
std::vector<InputDim> dims_of(const std::vector<SymDims>& shapes, Symbol symbol) {
  std::vector<InputDim> dims;
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      if (shapes[i][d] == SymSize::symbol(symbol)) {
        dims.emplace_back(static_cast<int>(i), static_cast<int>(d));
      }
    }
  }
  return dims;
}

std::string text_at(const Graph& graph, size_t i) {
  if (i >= graph.nodes.size()) return "ends";
  const Node& node = graph.nodes[i];
  if (node.kind != NodeKind::kOp) return "reads a tensor";
  return fmt::format("calls {}", op_info(node.op).name);
}

// Captures with dynamic sizes, represented by primes starting at `first_prime`.
Captured capture_dynamic(const TensorFunction& function, std::span<const Tensor> inputs,
                         const CaptureOptions& options, SizeGuess guess, int64_t first_prime) {
  SymbolHints hints(first_prime);
  Captured result;
  for (const Tensor& input : inputs) result.input_layouts.push_back(layout_of(input));
  std::vector<int64_t> avoid;
  for (const NamedTensor& parameter : options.parameters) {
    const Dims& shape = parameter.tensor.shape();
    avoid.insert(avoid.end(), shape.begin(), shape.end());
  }
  result.input_shapes = choose_symbols(inputs, guess, options.sizes, std::move(avoid), hints);
  result.symbols = static_cast<int>(hints.hints().size());
  if (hints.hints().size() > kMaxSymbols) {
    fail("capture",
         "{} sizes are dynamic, but at most {} are supported: compile with dynamic = false",
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

// What became of one attempt to capture with dynamic sizes.
struct Attempt {
  std::optional<Captured> captured{};
  std::string difference{};  // the function depends on sizes
  std::string error{};       // an operator refused, perhaps only because a size is dynamic
};

Attempt try_dynamic(const TensorFunction& function, std::span<const Tensor> inputs,
                    const CaptureOptions& options, SizeGuess guess) {
  Attempt attempt;
  for (const int64_t prime : primes_to_try(inputs)) {
    try {
      Captured captured = capture_dynamic(function, inputs, options, guess, prime);
      if (captured.symbols == 0) return {std::move(captured)};
      // Operators may skip a dimension of size one, so that case is checked when it occurs.
      auto sizes = sizes_of_call(inputs, captured);
      for (int64_t& size : sizes) size = std::max<int64_t>(size, 2);
      const auto difference = difference_at(function, inputs, options, captured, sizes);
      if (!difference) return {std::move(captured)};
      attempt.difference = *difference;
    } catch (const std::exception& error) {  // also the function's own
      return {std::nullopt, "", error.what()};
    }
  }
  return attempt;
}

// The sizes without which a capture succeeds, and that capture.
struct Narrowed {
  std::vector<InputDim> fixed;
  Captured captured;
};

// Fixes one dynamic size, or the first two, and so on, until the function can be captured. Equal
// sizes count as one.
std::optional<Narrowed> fix_some(const TensorFunction& function, std::span<const Tensor> inputs,
                                 CaptureOptions options) {
  SymbolHints hints;
  const auto shapes = choose_symbols(inputs, SizeGuess::kLeading, options.sizes, {}, hints);
  std::vector<std::vector<InputDim>> sizes;
  for (size_t symbol = 0; symbol < hints.hints().size(); ++symbol) {
    auto dims = dims_of(shapes, static_cast<Symbol>(symbol));
    if (!has_free(dims, inputs, options.sizes.given)) sizes.push_back(std::move(dims));
  }
  const auto before = options.sizes.fixed;
  const auto attempt = [&](const std::vector<InputDim>& fixed) -> std::optional<Narrowed> {
    options.sizes.fixed = before;
    options.sizes.fixed.insert(fixed.begin(), fixed.end());
    Attempt result = try_dynamic(function, inputs, options, SizeGuess::kLeading);
    if (!result.captured) return std::nullopt;
    return Narrowed{fixed, std::move(*result.captured)};
  };
  for (const auto& dims : sizes) {
    if (auto found = attempt(dims)) return found;
  }
  std::vector<InputDim> first;
  for (const auto& dims : sizes) {
    first.insert(first.end(), dims.begin(), dims.end());
    if (auto found = attempt(first)) return found;
  }
  return std::nullopt;
}

[[noreturn]] void refuse(const CaptureOptions& options, const std::vector<InputDim>& dims,
                         const std::string& difference) {
  std::vector<std::string> names;
  std::vector<std::string> rules;
  for (const InputDim& dim : dims) {
    names.push_back(size_name(options, dim));
    rules.push_back(fmt::format("{{{}, {}, Size::kFixed}}", dim.first, dim.second));
  }
  fail("capture",
       "{} decided which operators ran, or their arguments ({}): fix {} with sizes = {{{}}}",
       join(names, " and "), difference, names.size() == 1 ? "it" : "them", join(rules, ", "));
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
      return fmt::format("it reads another tensor of shape {}", to_string(plain.nodes[i].shape));
    }
    const std::string here = text_at(plain, i);
    const std::string elsewhere = text_at(symbolic, i);
    if (here == elsewhere) return fmt::format("it {} with other arguments", here);
    return fmt::format("it {}, but {} for other sizes", here, elsewhere);
  }
  if (plain.outputs != symbolic.outputs) return "it returns a different value for other sizes";
  return std::nullopt;
}

Captured capture(const TensorFunction& function, std::span<const Tensor> inputs,
                 const CaptureOptions& options) {
  check_rules(inputs, options.sizes.given);
  if (!options.dynamic) return capture_static(function, inputs, options);
  Attempt leading;
  for (const auto guess :
       {SizeGuess::kBroad, SizeGuess::kLeading, SizeGuess::kEqual, SizeGuess::kConservative}) {
    Attempt attempt = try_dynamic(function, inputs, options, guess);
    if (attempt.captured) return std::move(*attempt.captured);
    if (guess == SizeGuess::kLeading) leading = std::move(attempt);
  }
  capture_static(function, inputs, options);  // rethrows errors that do not depend on dynamic sizes
  auto narrowed = fix_some(function, inputs, options);
  if (!narrowed) {  // the caller said that all of them are free
    std::vector<std::string> names;
    for (const InputSize& rule : options.sizes.given) {
      if (rule.size == Size::kFree) names.push_back(size_name(inputs, options, rule));
    }
    fail("capture", "{} cannot be free: the function works only for the {} of this call",
         join(names, " and "), names.size() == 1 ? "size" : "sizes");
  }
  if (!leading.difference.empty()) refuse(options, narrowed->fixed, leading.difference);
  return std::move(narrowed->captured);
}

}  // namespace epi::compiler
