// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "epilogue/base/error.h"
#include "epilogue/compile/recorder.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

// Which dimensions are free, and the symbols for them: equal sizes of several inputs are one, as
// they must agree. A single input's leading dimensions are free whatever they are; among several
// inputs a size of one is fixed, because it broadcasts. Where strides do not follow from the sizes,
// nothing is free.
std::vector<SymDims> choose_symbols(std::span<const Tensor> inputs, SymbolHints& hints) {
  std::vector<int64_t> fixed;
  for (const Tensor& input : inputs) {
    fixed.insert(fixed.end(), input.shape().begin(), input.shape().end());
  }
  std::map<int64_t, Symbol> by_size;
  std::vector<SymDims> shapes;
  for (const Tensor& input : inputs) {
    SymDims shape;
    const bool dense = layout_of(input).order.has_value();
    for (int d = 0; d < input.dim(); ++d) {
      const int64_t size = input.shape()[d];
      const bool free = dense && d + 1 < input.dim() && (inputs.size() == 1 || size > 1);
      if (!free) {
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

Graph run(const Function& function, std::span<const Tensor> inputs,
          const std::vector<SymDims>& shapes, const SymbolHints& hints,
          std::span<const int64_t> sizes, const CaptureOptions& options) {
  Recorder recorder(hints, options.parameters);
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

// The sizes of this call; one counts as two, as strides of such dimensions mean nothing.
std::vector<int64_t> sizes_of_call(std::span<const Tensor> inputs, const Captured& captured) {
  std::vector<int64_t> sizes(static_cast<size_t>(captured.symbols), 2);
  for (size_t i = 0; i < inputs.size(); ++i) {
    for (size_t d = 0; d < captured.input_shapes[i].size(); ++d) {
      const SymSize& size = captured.input_shapes[i][d];
      if (size.is_static()) continue;
      sizes[static_cast<size_t>(size.symbols()[0])] =
          std::max<int64_t>(2, inputs[i].shape()[static_cast<int>(d)]);
    }
  }
  return sizes;
}

std::string_view name_at(const Graph& graph, size_t i) {
  if (i >= graph.nodes.size()) return "nothing";
  const Node& node = graph.nodes[i];
  return node.kind == NodeKind::kOp ? op_info(node.op).name : "a parameter";
}

void check_sizes_are_free(const Function& function, std::span<const Tensor> inputs,
                          const CaptureOptions& options, const Captured& captured) {
  const auto sizes = sizes_of_call(inputs, captured);
  const Graph plain = run(function, inputs, captured.input_shapes, SymbolHints(), sizes, options);
  const Graph& free = captured.graph;
  for (size_t i = 0; i < std::max(plain.nodes.size(), free.nodes.size()); ++i) {
    const bool both = i < plain.nodes.size() && i < free.nodes.size();
    if (both && is_same_at(free.nodes[i], plain.nodes[i], sizes)) continue;
    fail("capture",
         "the function looks at sizes: it calls {} where it calls {} for others; compile it with "
         "dynamic = off",
         name_at(plain, i), name_at(free, i));
  }
}

}  // namespace

Captured capture(const Function& function, std::span<const Tensor> inputs,
                 const CaptureOptions& options) {
  SymbolHints hints;
  Captured result;
  for (const Tensor& input : inputs) result.input_layouts.push_back(layout_of(input));
  if (options.dynamic) {
    result.input_shapes = choose_symbols(inputs, hints);
  } else {
    for (const Tensor& input : inputs) {
      result.input_shapes.emplace_back(input.shape().begin(), input.shape().end());
    }
  }
  result.symbols = static_cast<int>(hints.hints().size());
  if (!options.dynamic) {
    result.graph = run(function, inputs, result.input_shapes, hints, {}, options);
    return result;
  }
  try {
    result.graph = run(function, inputs, result.input_shapes, hints, hints.hints(), options);
  } catch (const Error& error) {
    // A mistake of the caller's fails with the call's own sizes too.
    CaptureOptions fixed = options;
    fixed.dynamic = false;
    capture(function, inputs, fixed);
    fail("capture", "the function needs its sizes as they are ({}): compile it with dynamic = off",
         error.what());
  }
  check_sizes_are_free(function, inputs, options, result);
  return result;
}

}  // namespace epi::compiler
