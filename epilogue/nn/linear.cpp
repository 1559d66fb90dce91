// SPDX-License-Identifier: Apache-2.0
#include "epilogue/nn/linear.h"

#include <cmath>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::nn {

Linear::Linear(int64_t in_features, int64_t out_features, bool has_bias, DType dtype)
    : weight(empty({out_features, in_features}, {dtype, kCpu})) {
  if (has_bias) bias = empty({out_features}, {dtype, kCpu});
}

Tensor Linear::forward(const Tensor& x) const { return linear(x, weight, bias); }

std::vector<NamedParameter> Linear::parameters() {
  std::vector<NamedParameter> result{{"weight", &weight}};
  if (bias.defined()) result.push_back({"bias", &bias});
  return result;
}

void init_normal(Module& module, uint64_t seed) {
  for (const auto& parameter : module.parameters()) {
    const Tensor& old = *parameter.tensor;
    const double scale = 1.0 / std::sqrt(static_cast<double>(old.size(-1)));
    *parameter.tensor =
        to(mul(randn(old.shape(), seed++, {old.dtype(), kCpu}), scale), old.device());
  }
}

}  // namespace epi::nn
