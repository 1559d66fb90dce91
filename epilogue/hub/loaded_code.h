// SPDX-License-Identifier: Apache-2.0
// A package's code in this process: a library of functions, or kernels on a GPU.
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

// From memory, so that what was checked is what is run. Both check that every export is there.
Result<std::shared_ptr<const LoadedCode>> load_library(const Manifest& manifest,
                                                       std::string_view bytes);
Result<std::shared_ptr<const LoadedCode>> load_gpu_kernels(const Manifest& manifest,
                                                           std::string_view bytes, int device);

}  // namespace epi::hub
