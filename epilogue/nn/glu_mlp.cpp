// SPDX-License-Identifier: Apache-2.0
#include "epilogue/nn/glu_mlp.h"

#include <array>

#include "epilogue/ops/functional.h"

namespace epi::nn {
namespace {

struct ActivationName {
  GluActivation activation;
  std::string_view name;
};
constexpr std::array<ActivationName, 3> kNames = {{{GluActivation::kGeluTanh, "geglu"},
                                                   {GluActivation::kGelu, "geglu_erf"},
                                                   {GluActivation::kSilu, "swiglu"}}};

Tensor activate(const Tensor& x, GluActivation activation) {
  switch (activation) {
    case GluActivation::kGeluTanh:
      return gelu(x, "tanh");
    case GluActivation::kGelu:
      return gelu(x, "none");
    case GluActivation::kSilu:
      break;
  }
  return silu(x);
}

}  // namespace

std::optional<GluActivation> glu_activation_from_name(std::string_view name) {
  for (const auto& row : kNames) {
    if (row.name == name) return row.activation;
  }
  return std::nullopt;
}

GluMlp::GluMlp(int64_t dim, int64_t hidden, GluActivation act, bool bias, DType dtype)
    : gate_proj(dim, hidden, bias, dtype),
      up_proj(dim, hidden, bias, dtype),
      down_proj(hidden, dim, bias, dtype),
      activation(act) {}

Result<GluMlp> GluMlp::from(const Checkpoint& checkpoint, std::string_view prefix,
                            GluActivation activation) {
  const std::string full = checkpoint.find_prefix(prefix, "gate_proj.weight");
  const auto gate = checkpoint.tensor(full + "gate_proj.weight");
  EPI_TRY(gate);
  if (gate->dim() != 2) {
    return failure("{}: tensor \"{}gate_proj.weight\" is {}-dimensional, a weight has 2 dimensions",
                   checkpoint.path(), full, gate->dim());
  }
  GluMlp mlp(gate->size(1), gate->size(0), activation, checkpoint.contains(full + "gate_proj.bias"),
             gate->dtype());
  EPI_TRY(mlp.load(checkpoint, full));
  return mlp;
}

Tensor GluMlp::forward(const Tensor& x) const {
  const Tensor gate = gate_proj.forward(x);
  const Tensor up = up_proj.forward(x);
  return down_proj.forward(mul(activate(gate, activation), up));
}

std::vector<NamedParameter> GluMlp::parameters() {
  std::vector<NamedParameter> result;
  const auto append = [&](std::string_view prefix, Linear& layer) {
    for (auto& parameter : layer.parameters()) {
      result.push_back({std::string(prefix) + "." + parameter.name, parameter.tensor});
    }
  };
  append("gate_proj", gate_proj);
  append("up_proj", up_proj);
  append("down_proj", down_proj);
  return result;
}

}  // namespace epi::nn
