// SPDX-License-Identifier: Apache-2.0
// Modules: named parameters and a forward function. Copies of a module share its parameters, as
// copies of a tensor share storage.
#pragma once

#include <cstdint>
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

class Linear;
struct NamedLayer {
  std::string name;
  Linear* layer;
};

class Module {
 public:
  virtual ~Module() = default;
  // A module of other inputs has its own `forward`, which compile() accepts, and not this one.
  virtual Tensor forward(const Tensor& x) const;
  // All parameters in a fixed order. The pointers refer to members of the module.
  virtual std::vector<NamedParameter> parameters() = 0;
  // The layers that `quantize` changes.
  virtual std::vector<NamedLayer> layers() { return {}; }

  // Loads each parameter from the tensor named `prefix` + its name, with or without a dot between
  // them. Parameters on the CPU share the checkpoint's bytes; others are copied to the parameter's
  // device. If a tensor is missing or has another shape or dtype, the module stays unchanged.
  Result<void> load(const Checkpoint& checkpoint, std::string_view prefix = "");
  // Moves every parameter to `device`, now or when it gets its values.
  void to(Device device);

 protected:
  Module() = default;
  Module(const Module&) = default;
  Module& operator=(const Module&) = default;

 private:
  friend void init_normal(Module& module, uint64_t seed);
  // Where the parameter is, or will be.
  Device device_of(const Tensor& parameter) const;

  Device device_ = kCpu;  // of parameters without values
};

// Fills every parameter with normally distributed numbers divided by the square root of its last
// size, so that outputs have the magnitude of the inputs. Parameter i uses the seed `seed` + i.
void init_normal(Module& module, uint64_t seed);

}  // namespace epi::nn
