// SPDX-License-Identifier: Apache-2.0
// y = x @ weight.t() + bias. Parameters: "weight" [out, in] and, if present, "bias" [out].
#pragma once

#include <cstdint>

#include "epilogue/nn/module.h"

namespace epi::nn {

class Linear : public Module {
 public:
  // Creates uninitialised parameters on the CPU. Load them or call `init_normal`.
  Linear(int64_t in_features, int64_t out_features, bool bias = true, DType dtype = DType::kF32);

  Tensor forward(const Tensor& x) const override;
  std::vector<NamedParameter> parameters() override;

  Tensor weight;
  Tensor bias;  // undefined if the layer has no bias
};

// Fills every parameter with normally distributed numbers divided by the square root of its last
// size, so that outputs have the magnitude of the inputs. Parameter i uses the seed `seed` + i.
void init_normal(Module& module, uint64_t seed);

}  // namespace epi::nn
