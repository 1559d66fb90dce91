// SPDX-License-Identifier: Apache-2.0
#include "epilogue/nn/module.h"

#include <cmath>

#include "epilogue/base/result.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::nn {

Tensor Module::forward(const Tensor& /*x*/) const {
  fail("forward", "the module does not take a single tensor");
}

Result<void> Module::load(const Checkpoint& checkpoint, std::string_view prefix) {
  std::vector<Tensor> loaded;
  const auto all = parameters();
  const std::string full = all.empty() ? "" : checkpoint.find_prefix(prefix, all.front().name);
  for (const auto& [name, tensor] : all) {
    auto found = checkpoint.tensor(full + name);
    EPI_TRY(found);
    if (found->shape() != tensor->shape() || found->dtype() != tensor->dtype()) {
      return failure("{}: tensor \"{}{}\" is {} {}, the module needs {} {}", checkpoint.path(),
                     full, name, epi::name(found->dtype()), to_string(found->shape()),
                     epi::name(tensor->dtype()), to_string(tensor->shape()));
    }
    loaded.push_back(std::move(*found));
  }
  size_t next = 0;
  for (const auto& parameter : all) {
    *parameter.tensor = epi::to(loaded[next++], device_of(*parameter.tensor));
  }
  return {};
}

Device Module::device_of(const Tensor& parameter) const {
  return parameter.device().type == DeviceType::kMeta ? device_ : parameter.device();
}

void Module::to(Device device) {
  device_ = device;
  for (const auto& parameter : parameters()) {
    Tensor& tensor = *parameter.tensor;
    if (tensor.device().type != DeviceType::kMeta) tensor = epi::to(tensor, device);
  }
}

void init_normal(Module& module, uint64_t seed) {
  for (const auto& parameter : module.parameters()) {
    const Tensor& old = *parameter.tensor;
    const double scale = 1.0 / std::sqrt(static_cast<double>(old.size(-1)));
    *parameter.tensor =
        to(mul(randn(old.shape(), seed++, {old.dtype(), kCpu}), scale), module.device_of(old));
  }
}

}  // namespace epi::nn
