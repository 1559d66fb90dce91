// SPDX-License-Identifier: Apache-2.0
#include "epilogue/nn/module.h"

#include "epilogue/base/result.h"
#include "epilogue/ops/functional.h"

namespace epi::nn {

Result<void> Module::load(const Checkpoint& checkpoint, std::string_view prefix) {
  std::vector<Tensor> loaded;
  for (const auto& [name, tensor] : parameters()) {
    auto found = checkpoint.tensor(std::string(prefix) + name);
    EPI_TRY(found);
    if (found->shape() != tensor->shape() || found->dtype() != tensor->dtype()) {
      return failure("{}: tensor \"{}{}\" is {} {}, the module needs {} {}", checkpoint.path(),
                     prefix, name, epi::name(found->dtype()), to_string(found->shape()),
                     epi::name(tensor->dtype()), to_string(tensor->shape()));
    }
    loaded.push_back(std::move(*found));
  }
  size_t next = 0;
  for (const auto& parameter : parameters()) {
    const Device device = parameter.tensor->device();
    *parameter.tensor = epi::to(loaded[next++], device);
  }
  return {};
}

void Module::to(Device device) {
  for (const auto& parameter : parameters()) {
    *parameter.tensor = epi::to(*parameter.tensor, device);
  }
}

std::vector<std::pair<std::string, Tensor>> Module::state(std::string_view prefix) {
  std::vector<std::pair<std::string, Tensor>> result;
  for (const auto& [name, tensor] : parameters()) {
    result.emplace_back(std::string(prefix) + name, *tensor);
  }
  return result;
}

}  // namespace epi::nn
