// SPDX-License-Identifier: Apache-2.0
// The input of the compiler: a function of tensors and integers, and the tensors that it reads
// besides its inputs.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "epilogue/base/error.h"
#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

using TensorFunction = std::function<Tensor(std::span<const Tensor>)>;

// The arguments of one call.
struct CallArgs {
  CallArgs(std::span<const Tensor> tensors_in, std::span<const int64_t> integers_in = {})  // NOLINT
      : tensors(tensors_in), integers(integers_in) {}
  CallArgs(const std::vector<Tensor>& tensors_in)  // NOLINT: implicit from the tensors
      : tensors(tensors_in) {}

  std::span<const Tensor> tensors;
  std::span<const int64_t> integers;
};

// The single tensor of a call. Throws if there are others, or none.
const Tensor& only(std::span<const Tensor> tensors);

// A function in any of these forms, where each result may be a Tensor or a vector of them:
//   (const Tensor& x)
//   (std::span<const Tensor> inputs)
//   (std::span<const Tensor> inputs, std::span<const int64_t> integers)
template <typename F>
concept OfOneTensor = std::invocable<const F&, const Tensor&>;
template <typename F>
concept OfTensors = std::invocable<const F&, std::span<const Tensor>>;
template <typename F>
concept OfTensorsAndIntegers =
    std::invocable<const F&, std::span<const Tensor>, std::span<const int64_t>>;

template <typename F>
concept TensorCallable = OfOneTensor<F> || OfTensors<F> || OfTensorsAndIntegers<F>;

class AnyFunction {
 public:
  AnyFunction() = default;
  template <TensorCallable F>
  AnyFunction(F function) {                                // NOLINT: implicit from a function
    if constexpr (requires { function.target_type(); }) {  // a std::function, which may be empty
      if (!function) return;
    }
    call_ = [function = std::move(function)](CallArgs args) {
      if constexpr (OfTensorsAndIntegers<F>) {
        return listed(function(args.tensors, args.integers));
      } else {
        refuse_integers(args.integers.size());
        if constexpr (OfTensors<F>) {
          return listed(function(args.tensors));
        } else {
          return listed(function(only(args.tensors)));
        }
      }
    };
  }

  std::vector<Tensor> operator()(CallArgs args) const { return call_(args); }
  explicit operator bool() const { return static_cast<bool>(call_); }

 private:
  static std::vector<Tensor> listed(Tensor tensor) { return {std::move(tensor)}; }
  static std::vector<Tensor> listed(std::vector<Tensor> tensors) { return tensors; }
  static void refuse_integers(size_t count) {
    if (count != 0) fail("compile", "the function takes no integers, not {}", count);
  }

  std::function<std::vector<Tensor>(CallArgs)> call_;
};

// A named tensor that the function reads besides its inputs.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace epi::compiler
