// SPDX-License-Identifier: Apache-2.0
// y = x @ weight.t() + bias. Parameters: "weight" [out, in] and, if present, "bias" [out].
#pragma once

#include <cstdint>

#include "epilogue/nn/module.h"

namespace epi::nn {

class Linear : public Module {
 public:
  // The parameters have no values yet: `load` them, call `init_normal`, or assign tensors. Until
  // then `forward` throws.
  Linear(int64_t in_features, int64_t out_features, bool bias = true, DType dtype = DType::kF32);

  Tensor forward(const Tensor& x) const override;
  std::vector<NamedParameter> parameters() override;

  Tensor weight;
  Tensor bias;  // undefined if the layer has no bias
};

}  // namespace epi::nn
