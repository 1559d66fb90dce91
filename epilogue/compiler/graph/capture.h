// SPDX-License-Identifier: Apache-2.0
// Runs a function once on meta tensors and records its calls. With `dynamic`, sizes of the inputs
// and integer arguments are symbolic (dynamic_sizes.h), except for sizes that an operator needs as
// they are. The function then runs a second time with the sizes of the call: if that produces a
// different graph, the function depends on sizes and is rejected. `difference_at` performs the same
// check for later sizes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compiler/graph/dynamic_sizes.h"
#include "epilogue/compiler/graph/graph.h"
#include "epilogue/compiler/graph/input_layout.h"
#include "epilogue/compiler/tensor_function.h"

namespace epi::compiler {

struct CaptureOptions {
  bool dynamic = true;
  std::vector<NamedTensor> parameters{};   // other tensors are named constant_0, ...
  std::vector<std::string> input_names{};  // default: x0, x1, ...
  SizeRules sizes{};
};

struct Captured {
  Graph graph;
  int symbols = 0;
  // For each dimension of each input: its symbol, or its fixed size.
  std::vector<SymDims> input_shapes;
  std::vector<InputLayout> input_layouts;
  std::vector<DType> input_dtypes;
  SymDims integers{};  // for each integer argument: its symbol, or its fixed value
};

// Limit on dynamic sizes: a call keeps their values on the stack.
inline constexpr size_t kMaxSymbols = 32;

// Throws `Error` with the name of the operator for code that cannot be captured: reading values,
// writing into tensors that the function itself creates, and control flow that depends on sizes or
// integers.
Captured capture(const AnyFunction& function, const CallArgs& args,
                 const CaptureOptions& options = {});

// How the function's graph for these values of the symbols differs from the captured one, or
// nullopt.
std::optional<std::string> difference_at(const AnyFunction& function, const CaptureOptions& options,
                                         const Captured& captured, std::span<const int64_t> values);

}  // namespace epi::compiler
