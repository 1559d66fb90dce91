// SPDX-License-Identifier: Apache-2.0
// The input of the compiler: a function of tensors, and the tensors that it reads besides its
// inputs.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

using TensorFunction = std::function<Tensor(std::span<const Tensor>)>;

// A named tensor that the function reads besides its inputs.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace epi::compiler
