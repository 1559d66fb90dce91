// SPDX-License-Identifier: Apache-2.0
// The gated feed-forward block: down(act(gate(x)) * up(x)). Parameters have the names that
// checkpoints use: "gate_proj.weight", "up_proj.weight", "down_proj.weight", and the biases if
// present.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "epilogue/nn/linear.h"

namespace epi::nn {

enum class GluActivation { kGeluTanh, kGelu, kSilu };

// "geglu" (tanh GELU), "geglu_erf" (erf GELU) or "swiglu".
std::optional<GluActivation> glu_activation_from_name(std::string_view name);

class GluMlp : public Module {
 public:
  GluMlp(int64_t dim, int64_t hidden, GluActivation activation = GluActivation::kGeluTanh,
         bool bias = false, DType dtype = DType::kF32);

  // Loads the block with the sizes, dtype, biases and int8 weights that the checkpoint has:
  //   auto mlp = GluMlp::from(*checkpoint, "model.layers.0.mlp", GluActivation::kSilu);
  static Result<GluMlp> from(const Checkpoint& checkpoint, std::string_view prefix,
                             GluActivation activation);

  // x and the result are [..., dim]. Runs gate, up, activation, multiplication, down in this order.
  Tensor forward(const Tensor& x) const override;
  std::vector<NamedParameter> parameters() override;
  std::vector<NamedLayer> layers() override;

  Linear gate_proj;
  Linear up_proj;
  Linear down_proj;
  GluActivation activation;
};

}  // namespace epi::nn
