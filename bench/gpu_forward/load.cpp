// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu_forward/load.h"

#include "epilogue/nn/checkpoint.h"
#include "epilogue/tensor/tensor.h"

namespace epi::bench {

nn::GluMlp load_mlp(const std::string& path, nn::GluActivation activation) {
  const nn::Checkpoint checkpoint = value_or_throw(nn::Checkpoint::open(path));
  const Tensor gate = value_or_throw(checkpoint.tensor("gate_proj.weight"));
  nn::GluMlp mlp(gate.size(1), gate.size(0), activation, false, gate.dtype());
  if (auto loaded = mlp.load(checkpoint); !loaded) throw Error(loaded.error().message);
  mlp.to(kCuda);
  return mlp;
}

nn::Linear load_linear(const std::string& path) {
  const nn::Checkpoint checkpoint = value_or_throw(nn::Checkpoint::open(path));
  const Tensor weight = value_or_throw(checkpoint.tensor("weight"));
  nn::Linear layer(weight.size(1), weight.size(0), true, weight.dtype());
  if (auto loaded = layer.load(checkpoint); !loaded) throw Error(loaded.error().message);
  layer.to(kCuda);
  return layer;
}

}  // namespace epi::bench
