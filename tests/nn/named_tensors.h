// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "epilogue/nn/module.h"

namespace epi::nn {

// The parameters of a module, to be saved under their names after `prefix`.
inline std::vector<std::pair<std::string, Tensor>> named_tensors(Module& module,
                                                                 std::string_view prefix = "") {
  std::vector<std::pair<std::string, Tensor>> tensors;
  for (const auto& [name, tensor] : module.parameters()) {
    tensors.emplace_back(std::string(prefix) + name, *tensor);
  }
  return tensors;
}

}  // namespace epi::nn
