// SPDX-License-Identifier: Apache-2.0
// Modules: named parameters and a forward function. Copies of a module share its parameters, as
// copies of a tensor share storage.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/nn/checkpoint.h"
#include "epilogue/tensor/tensor.h"

namespace epi::nn {

struct NamedParameter {
  std::string name;
  Tensor* tensor;
};

class Module {
 public:
  virtual ~Module() = default;
  virtual Tensor forward(const Tensor& x) const = 0;
  // All parameters in a fixed order. The pointers refer to members of the module.
  virtual std::vector<NamedParameter> parameters() = 0;

  // Loads each parameter from the tensor named `prefix` + its name. Parameters on the CPU share the
  // checkpoint's bytes; others are copied to the parameter's device. If a tensor is missing or has
  // another shape or dtype, the module stays unchanged.
  Result<void> load(const Checkpoint& checkpoint, std::string_view prefix = "");
  // Moves every parameter to `device`.
  void to(Device device);
  // Names and tensors for save_safetensors.
  std::vector<std::pair<std::string, Tensor>> state(std::string_view prefix = "");
};

}  // namespace epi::nn
