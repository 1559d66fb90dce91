// SPDX-License-Identifier: Apache-2.0
// `epi::compile`: captures a module or a function of tensors at its first call, fuses it, and from
// then on runs it as a few generated kernels.
//
//   const auto fast = epi::compile(mlp);
//   Tensor y = fast(x);   // another batch or sequence length runs the same code
//
// A function may take several tensors and integers, return several tensors, and write into its
// inputs with copy_. An integer is symbolic like a size: a position in a cache, for example.
//
//   const auto step = epi::compile(
//       [](std::span<const Tensor> in, std::span<const int64_t> at) -> std::vector<Tensor> {
//         copy_(narrow(in[1], 0, at[0], 1), in[0]);         // the next row of the cache
//         return {sum(narrow(in[1], 0, 0, at[0] + 1), {0})};
//       });
//   std::vector<Tensor> results = step.run({x, cache}, {position});
//
// Weights are packed at the first call. All compiled functions of a process share one packed copy
// of the same weights. Weights that an operator writes later, such as copy_, are packed again at
// the next call. Writes through raw pointers are not seen. Code that cannot be compiled throws.
#pragma once

#include <concepts>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compiler/compile_options.h"
#include "epilogue/compiler/tensor_function.h"
#include "epilogue/nn/module.h"
#include "epilogue/tensor/tensor.h"

namespace epi {

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
  Compiled(compiler::AnyFunction function, std::vector<compiler::NamedTensor> parameters,
           CompileOptions options);

  // Compiles on the first call, and on a call whose arguments match no variant. Thread-safe, except
  // for calls that write into the same tensor.
  std::vector<Tensor> run(std::span<const Tensor> inputs,
                          std::span<const int64_t> integers = {}) const;
  std::vector<Tensor> run(std::initializer_list<Tensor> inputs,
                          std::initializer_list<int64_t> integers = {}) const {
    return run(std::span(inputs.begin(), inputs.size()),
               std::span(integers.begin(), integers.size()));
  }
  // The same for a function with one result. Throws if there are several.
  Tensor operator()(std::span<const Tensor> inputs, std::span<const int64_t> integers = {}) const;
  Tensor operator()(std::initializer_list<Tensor> inputs,
                    std::initializer_list<int64_t> integers = {}) const {
    return (*this)(std::span(inputs.begin(), inputs.size()),
                   std::span(integers.begin(), integers.size()));
  }
  Tensor operator()(const Tensor& x) const { return (*this)(std::span(&x, 1)); }

  // One entry per compilation so far, in order, without those that were replaced.
  std::vector<VariantInfo> variants() const;
  // Number of compilations after the first.
  int recompiles() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// Compiles `forward` of a module, which may take and return tensors in any of the forms of
// compiler::AnyFunction. Copies the module. The copy shares the parameters of the original. Loading
// other tensors into the original afterwards gives it other parameters, and the copy keeps those
// that it has.
template <std::derived_from<nn::Module> M>
Compiled compile(const M& module, CompileOptions options = {}) {
  M copy = module;
  std::vector<compiler::NamedTensor> parameters;
  for (const auto& parameter : copy.parameters()) {
    parameters.push_back({parameter.name, *parameter.tensor});
  }
  using Tensors = std::span<const Tensor>;
  using Integers = std::span<const int64_t>;
  compiler::AnyFunction forward;
  if constexpr (requires { copy.forward(Tensors(), Integers()); }) {
    forward = [copy](Tensors inputs, Integers integers) { return copy.forward(inputs, integers); };
  } else if constexpr (requires { copy.forward(Tensors()); }) {
    forward = [copy](Tensors inputs) { return copy.forward(inputs); };
  } else {
    forward = [copy](const Tensor& x) { return copy.forward(x); };
  }
  return Compiled(std::move(forward), std::move(parameters), std::move(options));
}

// Compiles a function in one of the forms of compiler::AnyFunction.
inline Compiled compile(compiler::AnyFunction function, CompileOptions options = {}) {
  return Compiled(std::move(function), {}, std::move(options));
}

}  // namespace epi
