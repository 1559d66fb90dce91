// SPDX-License-Identifier: Apache-2.0
// A package's code in this process: a library of functions or GPU kernels.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "epilogue/hub/bound_call.h"
#include "epilogue/hub/manifest.h"
#include "epilogue/hub/weights.h"

namespace epi::hub {

class LoadedCode {
 public:
  virtual ~LoadedCode() = default;
  virtual void run(const BoundCall& call, Weights weights) const = 0;
};

// Load code from memory, so that the bytes that were checked are the bytes that run. Both fail if
// an export is missing.
Result<std::shared_ptr<const LoadedCode>> load_library(const Manifest& manifest,
                                                       std::string_view bytes);
Result<std::shared_ptr<const LoadedCode>> load_gpu_kernels(const Manifest& manifest,
                                                           std::string_view bytes, int device);

}  // namespace epi::hub
