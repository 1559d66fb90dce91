// SPDX-License-Identifier: Apache-2.0
#include "epilogue/nn/linear.h"

#include "epilogue/ops/functional.h"
#include "epilogue/ops/int8_groups.h"
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
  if (weight_scale.defined()) return int8_linear(x, weight, weight_scale, bias, int8_input);
  return linear(x, weight, bias);
}

std::vector<NamedParameter> Linear::parameters() {
  std::vector<NamedParameter> result{{"weight", &weight}};
  if (weight_scale.defined()) result.push_back({"weight_scale", &weight_scale});
  if (bias.defined()) result.push_back({"bias", &bias});
  return result;
}

Result<void> Linear::declare_int8(const Checkpoint& checkpoint, const std::string& prefix) {
  const auto stored = checkpoint.tensor(prefix + "weight");
  EPI_TRY(stored);
  if (stored->dtype() != DType::kI8) return {};
  const std::string scale_name = prefix + "weight_scale";
  if (!checkpoint.contains(scale_name)) {
    return failure("{}: tensor \"{}weight\" is I8, but there is no \"{}\"", checkpoint.path(),
                   prefix, scale_name);
  }
  const auto scale = checkpoint.tensor(scale_name);
  EPI_TRY(scale);
  const int64_t rows = weight.size(0);
  const int64_t groups = int8_groups(weight.size(1));
  const bool fits = scale->dim() == 2 && scale->size(0) == rows &&
                    (scale->size(1) == 1 || scale->size(1) == groups);
  if (!fits || !is_floating(scale->dtype())) {
    return failure(
        "{}: tensor \"{}\" is {} {}, expected floating-point numbers [{}, 1] or [{}, {}]",
        checkpoint.path(), scale_name, epi::name(scale->dtype()), to_string(scale->shape()), rows,
        rows, groups);
  }
  weight = empty(weight.shape(), {DType::kI8, kMeta});
  weight_scale = empty(scale->shape(), {scale->dtype(), kMeta});
  return {};
}

}  // namespace epi::nn
