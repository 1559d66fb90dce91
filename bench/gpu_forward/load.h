// SPDX-License-Identifier: Apache-2.0
// Modules on the GPU with the weights of a safetensors file. A file that cannot be read throws.
#pragma once

#include <string>
#include <utility>

#include "epilogue/base/error.h"
#include "epilogue/base/result.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/nn/linear.h"

namespace epi::bench {

template <typename T>
T value_or_throw(Result<T> result) {
  if (!result) throw Error(result.error().message);
  return std::move(*result);
}

nn::GluMlp load_mlp(const std::string& path, nn::GluActivation activation);
nn::Linear load_linear(const std::string& path);

}  // namespace epi::bench
