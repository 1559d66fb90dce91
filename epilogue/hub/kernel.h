// SPDX-License-Identifier: Apache-2.0
// Kernels of a package, loaded:
//
//   const auto glu = hub::get_kernel("epilogue/glu", 1);
//   Tensor h = glu->call("gelu_tanh_and_mul", {gate, up});
//
// A package is checked before anything of it is executed, and stays loaded until the process ends;
// any number of versions of it may be.
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

// Copies share the loaded code; any thread may call.
class Kernels {
 public:
  const Manifest& manifest() const { return *manifest_; }
  Device device() const { return device_; }
  // What was found and is not enough for a refusal: "signed by ..., which is in no keyring".
  const std::vector<std::string>& warnings() const { return *warnings_; }

  // Runs an export on the current stream. `inputs` are its operands that are no outputs, in the
  // manifest's order; returns the first output. Leading sizes of inputs are taken together as rows
  // and come back; an input that is not dense within its rows is copied first. Throws `Error`.
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

// The best variant for `device`, checked and loaded. Where none can be used the failure says why,
// of every variant.
Result<Kernels> get_kernel(std::string_view name, int64_t version, Device device = kCpu,
                           const Settings& settings = {});

// Loads what was resolved for `device`; the same bytes only once.
Result<Kernels> load(const Resolution& resolution, Device device);

}  // namespace epi::hub
