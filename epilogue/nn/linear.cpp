// SPDX-License-Identifier: Apache-2.0
#include "epilogue/nn/linear.h"

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::nn {

Linear::Linear(int64_t in_features, int64_t out_features, bool has_bias, DType dtype)
    : weight(empty({out_features, in_features}, {dtype, kMeta})) {
  if (has_bias) bias = empty({out_features}, {dtype, kMeta});
}

Tensor Linear::forward(const Tensor& x) const {
  const auto has_values = [](const Tensor& parameter) {
    return !parameter.defined() || parameter.device().type != DeviceType::kMeta;
  };
  if (!has_values(weight) || !has_values(bias)) {
    fail("linear", "the parameters of this layer, {} and {}, have no values: load them first",
         to_string(weight.shape()), bias.defined() ? to_string(bias.shape()) : "no bias");
  }
  return linear(x, weight, bias);
}

std::vector<NamedParameter> Linear::parameters() {
  std::vector<NamedParameter> result{{"weight", &weight}};
  if (bias.defined()) result.push_back({"bias", &bias});
  return result;
}

}  // namespace epi::nn
