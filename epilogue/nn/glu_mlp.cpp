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

// The dtype of the layers that are not int8, or of the biases, or f32.
DType float_dtype(const Checkpoint& checkpoint, const std::string& prefix) {
  for (const char* parameter : {"weight", "bias"}) {
    for (const char* layer : {"gate_proj.", "up_proj.", "down_proj."}) {
      const std::string name = prefix + layer + parameter;
      const auto tensor = checkpoint.contains(name) ? checkpoint.tensor(name) : Tensor();
      if (tensor && tensor->defined() && is_floating(tensor->dtype())) return tensor->dtype();
    }
  }
  return DType::kF32;
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
  const bool has_bias = checkpoint.contains(full + "gate_proj.bias");
  const DType dtype = float_dtype(checkpoint, full);
  GluMlp mlp(gate->size(1), gate->size(0), activation, has_bias, dtype);
  for (const auto& [name, layer] : mlp.layers()) {
    EPI_TRY(layer->declare_int8(checkpoint, full + name + "."));
  }
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
  for (const auto& [name, layer] : layers()) {
    for (const auto& parameter : layer->parameters()) {
      result.push_back({name + "." + parameter.name, parameter.tensor});
    }
  }
  return result;
}

std::vector<NamedLayer> GluMlp::layers() {
  return {{"gate_proj", &gate_proj}, {"up_proj", &up_proj}, {"down_proj", &down_proj}};
}

}  // namespace epi::nn
