// SPDX-License-Identifier: Apache-2.0
// `epi::compile`: captures a module or a function of tensors at its first call, fuses it, and from
// then on runs it as a few generated kernels.
//
//   const auto fast = epi::compile(mlp);
//   Tensor y = fast(x);   // another batch or sequence length runs the same code
//
// Weights are packed at the first call. All compiled functions of a process share one packed copy
// of the same weights. Weights that an operator writes later, such as copy_, are packed again at
// the next call. Writes through raw pointers are not seen. Code that cannot be compiled throws.
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

namespace compiler {
// The input of a function of one tensor. Throws if there are others, or none.
const Tensor& only(std::span<const Tensor> inputs);
}  // namespace compiler

// The result of one compilation.
struct VariantInfo {
  std::string reason;               // why no existing variant matched, or "first call"
  std::vector<std::string> stages;  // for each pass that changed the graph: its name and the graph
  std::string code;                 // LLVM IR, or CUDA C++
  std::string plan;
  std::vector<std::string> kernels;
  std::vector<std::string> kernel_code;  // of each kernel alone; empty for library kernels
  bool from_cache = false;
  std::string cache_error;  // why the cache was not used
  double compile_ms = 0;
};

class Compiled {
 public:
  Compiled(compiler::TensorFunction function, std::vector<compiler::NamedTensor> parameters,
           CompileOptions options);

  // Compiles on the first call, and on a call whose inputs match no variant. Thread-safe.
  Tensor operator()(std::span<const Tensor> inputs) const;
  Tensor operator()(const Tensor& x) const { return (*this)(std::span(&x, 1)); }

  // One entry per compilation so far, in order, without those that were replaced.
  std::vector<VariantInfo> variants() const;
  // Number of compilations after the first.
  int recompiles() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Copies the module. The copy shares the parameters of the original. Loading other tensors into the
// original afterwards gives it other parameters, and the copy keeps those that it has.
template <std::derived_from<nn::Module> M>
Compiled compile(const M& module, CompileOptions options = {}) {
  M copy = module;
  std::vector<compiler::NamedTensor> parameters;
  for (const auto& parameter : copy.parameters()) {
    parameters.push_back({parameter.name, *parameter.tensor});
  }
  return Compiled(
      [copy](std::span<const Tensor> inputs) { return copy.forward(compiler::only(inputs)); },
      std::move(parameters), std::move(options));
}

// Compiles a function of one tensor, or of several passed as a span.
inline Compiled compile(const std::function<Tensor(const Tensor&)>& function,
                        CompileOptions options = {}) {
  return Compiled(
      [function](std::span<const Tensor> inputs) { return function(compiler::only(inputs)); }, {},
      std::move(options));
}
inline Compiled compile(compiler::TensorFunction function, CompileOptions options = {}) {
  return Compiled(std::move(function), {}, std::move(options));
}

}  // namespace epi
