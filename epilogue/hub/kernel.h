// SPDX-License-Identifier: Apache-2.0
// Loads the kernels of a package:
//
//   const auto glu = hub::get_kernel("epilogue/glu", 1);
//   Tensor h = glu->call("gelu_tanh_and_mul", {gate, up});
//
// A package is checked before any of its code is executed. It stays loaded until the process exits.
// Several versions of a package can be loaded at the same time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/base/result.h"
#include "epilogue/hub/hub.h"
#include "epilogue/hub/weights.h"
#include "epilogue/tensor/device.h"
#include "epilogue/tensor/tensor.h"

namespace epi::hub {

class LoadedCode;

// Copies share the loaded code. Calls are thread-safe.
class Kernels {
 public:
  const Manifest& manifest() const { return *manifest_; }
  Device device() const { return device_; }
  // Findings that do not cause a refusal: "signed by ..., which is not in any keyring".
  const std::vector<std::string>& warnings() const { return *warnings_; }

  // Runs an exported kernel on the current stream. `inputs` are the operands that are not outputs,
  // in the manifest's order. Returns the first output. Leading dimensions of inputs are merged into
  // rows and restored in the output. An input whose rows are not contiguous is copied first. Inside
  // a function that is being compiled, the call becomes part of the compiled function. Throws
  // `Error`.
  Tensor call(std::string_view name, std::span<const Tensor> inputs,
              Weights weights = Weights::kMayChange) const;
  Tensor call(std::string_view name, std::initializer_list<Tensor> inputs) const {
    return call(name, std::span(inputs.begin(), inputs.size()));
  }

 private:
  friend Result<Kernels> load(const Resolution& resolution, Device device);
  std::shared_ptr<const Manifest> manifest_;
  std::shared_ptr<const std::vector<std::string>> warnings_;
  std::shared_ptr<const LoadedCode> code_;
  Device device_;
};

// Checks and loads the best variant for `device`. If none can be used, the failure lists the reason
// for every variant.
Result<Kernels> get_kernel(std::string_view name, int64_t version, Device device = kCpu,
                           const Settings& settings = {});

// Loads a resolution for `device`. The same code is loaded only once.
Result<Kernels> load(const Resolution& resolution, Device device);

}  // namespace epi::hub
