// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/prebuilt_glu_mlp.h"

#include <array>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/cuda/cuda_device.h"

namespace epi::hub {
namespace {

Layer find_layer(const Manifest& manifest, nn::GluActivation activation) {
  std::vector<std::string> supported;
  for (const Layer& layer : manifest.layers) {
    if (layer.name != "GluMlp") continue;
    if (nn::glu_activation_from_name(layer.activation) == activation) return layer;
    supported.push_back(layer.activation);
  }
  fail("hub", "{}@{} has no GluMlp for this activation, only for: {}", manifest.name,
       manifest.version, join(supported, ", "));
}

}  // namespace

GluMlp::GluMlp(nn::GluMlp mlp, Kernels kernels)
    : mlp_(std::move(mlp)),
      kernels_(std::move(kernels)),
      layer_(find_layer(kernels_.manifest(), mlp_.activation)) {
  const bool has_bias = mlp_.gate_proj.bias.defined();
  if (layer_.pointwise.empty() && (has_bias || mlp_.gate_proj.weight_scale.defined())) {
    fail("hub", "{}@{}: its GluMlp does not support {}", kernels_.manifest().name,
         kernels_.manifest().version, has_bias ? "biases" : "int8 weights");
  }
  // From now on kernels may read weights before preceding work on the stream has finished.
  if (kernels_.device() != kCpu) cuda::synchronize(kernels_.device().index);
}

Tensor GluMlp::forward(const Tensor& x) const {
  if (!layer_.pointwise.empty()) {
    const Tensor gate = mlp_.gate_proj.forward(x);
    const Tensor up = mlp_.up_proj.forward(x);
    return mlp_.down_proj.forward(kernels_.call(layer_.pointwise, {gate, up}));
  }
  const std::array gate_up = {x, mlp_.gate_proj.weight, mlp_.up_proj.weight};
  const std::array down = {kernels_.call(layer_.gate_up, gate_up, Weights::kConstant),
                           mlp_.down_proj.weight};
  return kernels_.call(layer_.down, down, Weights::kConstant);
}

}  // namespace epi::hub
