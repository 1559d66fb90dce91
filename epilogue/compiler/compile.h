// SPDX-License-Identifier: Apache-2.0
// `epi::compile`: a module or a function of tensors, captured at its first call, fused, and run as
// a few kernels of its own from then on.
//
//   const auto fast = epi::compile(mlp);
//   Tensor y = fast(x);   // another batch or sequence length runs the same code
//
// Parameters must stay as they are at the first call: weights are packed then, and what is written
// to them later is seen in part, or not at all. Whatever cannot be compiled throws; nothing falls
// back to eager calls.
#pragma once

#include <concepts>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compiler/compile_options.h"
#include "epilogue/compiler/tensor_function.h"
#include "epilogue/nn/module.h"
#include "epilogue/tensor/tensor.h"

namespace epi {

// What was compiled for one kind of inputs.
struct VariantInfo {
  std::string reason;  // why the variants before did not fit; of the first: "first call"
  std::vector<std::string> stages;  // of each pass that changed it: its name, and the graph
  std::string code;                 // LLVM IR, or CUDA C++
  std::string plan;
  std::vector<std::string> kernels;
  bool from_cache = false;
  std::string not_kept;  // why the cache could not keep the code
  double compile_ms = 0;
};

class Compiled {
 public:
  Compiled(compiler::TensorFunction function, std::vector<compiler::NamedTensor> parameters,
           CompileOptions options);

  // The first call, and the first with inputs that no variant fits, compiles. Any thread.
  Tensor operator()(std::span<const Tensor> inputs) const;
  Tensor operator()(const Tensor& x) const { return (*this)(std::span(&x, 1)); }

  // One for each compilation so far, in their order.
  std::vector<VariantInfo> variants() const;
  // How often a later call had to compile.
  int recompiles() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The module is copied, and shares its parameters with the original.
template <std::derived_from<nn::Module> M>
Compiled compile(const M& module, CompileOptions options = {}) {
  M copy = module;
  std::vector<compiler::NamedTensor> parameters;
  for (const auto& parameter : copy.parameters()) {
    parameters.push_back({parameter.name, *parameter.tensor});
  }
  return Compiled([copy](std::span<const Tensor> inputs) { return copy.forward(inputs[0]); },
                  std::move(parameters), std::move(options));
}

// A function of one tensor, or of several as a span.
inline Compiled compile(const std::function<Tensor(const Tensor&)>& function,
                        CompileOptions options = {}) {
  return Compiled([function](std::span<const Tensor> inputs) { return function(inputs[0]); }, {},
                  std::move(options));
}
inline Compiled compile(compiler::TensorFunction function, CompileOptions options = {}) {
  return Compiled(std::move(function), {}, std::move(options));
}

}  // namespace epi
