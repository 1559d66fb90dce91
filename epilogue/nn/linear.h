// SPDX-License-Identifier: Apache-2.0
// y = x @ weight.t() + bias. Parameters: "weight" [out, in] and, if present, "bias" [out]. A layer
// with int8 weights (quantize.h) also has "weight_scale".
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
  std::vector<NamedLayer> layers() override { return {{"", this}}; }

  // If the checkpoint stores this layer's weight as int8, declares it so, to be loaded next.
  // `prefix` is the layer's: "model.layers.0.mlp.gate_proj.".
  Result<void> declare_int8(const Checkpoint& checkpoint, const std::string& prefix);

  Tensor weight;
  Tensor bias;             // undefined if the layer has no bias
  Tensor weight_scale;     // undefined unless the weight is int8
  bool int8_input = true;  // with int8 weights: x is quantized, too
};

}  // namespace epi::nn
