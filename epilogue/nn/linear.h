// SPDX-License-Identifier: Apache-2.0
// y = x @ weight.t() + bias. Parameters: "weight" [out, in] and, if any, "bias" [out].
#pragma once

#include <cstdint>

#include "epilogue/nn/module.h"

namespace epi::nn {

class Linear : public Module {
 public:
  // Uninitialised parameters on the CPU: load them, or fill them with `init_normal`.
  Linear(int64_t in_features, int64_t out_features, bool bias = true, DType dtype = DType::kF32);

  Tensor forward(const Tensor& x) const override;
  std::vector<NamedParameter> parameters() override;

  Tensor weight;
  Tensor bias;  // undefined where the layer has none
};

// Normal numbers for every parameter, divided by the square root of its last size, so that outputs
// stay of the inputs' order. Parameter i gets the seed `seed` + i.
void init_normal(Module& module, uint64_t seed);

}  // namespace epi::nn
