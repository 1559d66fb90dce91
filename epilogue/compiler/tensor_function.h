// SPDX-License-Identifier: Apache-2.0
// What can be compiled: a function of tensors, and the tensors that it reads beside its inputs.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

using TensorFunction = std::function<Tensor(std::span<const Tensor>)>;

// A tensor that the function reads beside its inputs, by name.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};

}  // namespace epi::compiler
