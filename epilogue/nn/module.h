// SPDX-License-Identifier: Apache-2.0
// Modules: parameters with names, and a forward. A module is a value that shares its parameters
// when copied, as tensors do.
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
  // Every parameter that the module has, in a fixed order; the pointers are into the module.
  virtual std::vector<NamedParameter> parameters() = 0;

  // Takes each parameter from the tensor named `prefix` + its name, sharing the checkpoint's bytes
  // on the CPU, copying them to where the parameter is otherwise. All or nothing: where one is
  // missing, or of another shape or dtype, the module stays as it was.
  Result<void> load(const Checkpoint& checkpoint, std::string_view prefix = "");
  // Moves every parameter to `device`.
  void to(Device device);
  // Names and tensors, for save_safetensors.
  std::vector<std::pair<std::string, Tensor>> state(std::string_view prefix = "");
};

}  // namespace epi::nn
