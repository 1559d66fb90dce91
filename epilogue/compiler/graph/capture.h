// SPDX-License-Identifier: Apache-2.0
// Runs a function once on tensors without values and writes down what it calls. Which sizes are
// free is decided here: those of the inputs' leading dimensions, where `dynamic` is on. The
// function is run a second time with the sizes of the call: where that gives another graph, it
// looks at sizes, and is refused. `difference_at` asks the same of sizes that come later.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compiler/graph/graph.h"
#include "epilogue/compiler/graph/input_layout.h"
#include "epilogue/compiler/tensor_function.h"

namespace epi::compiler {

struct CaptureOptions {
  bool dynamic = true;
  std::vector<NamedTensor> parameters{};   // others are called constant_0, ...
  std::vector<std::string> input_names{};  // x0, x1, ... where they are not given
};

struct Captured {
  Graph graph;
  int symbols = 0;
  // Of every input and dimension: its symbol as a size, or its number.
  std::vector<SymDims> input_shapes;
  std::vector<InputLayout> input_layouts;
};

// More sizes cannot be free: a call keeps their values on the stack.
inline constexpr size_t kMaxSymbols = 32;

// Throws `Error`, which names the operator, where something cannot be captured: values that are
// read, tensors that are written in place, sizes that decide what is called.
Captured capture(const TensorFunction& function, std::span<const Tensor> inputs,
                 const CaptureOptions& options = {});

// How the function's graph for these sizes differs from the captured one; none where it does not.
std::optional<std::string> difference_at(const TensorFunction& function,
                                         std::span<const Tensor> inputs,
                                         const CaptureOptions& options, const Captured& captured,
                                         std::span<const int64_t> sizes);

}  // namespace epi::compiler
