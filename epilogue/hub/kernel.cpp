// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/kernel.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "epilogue/base/error.h"
#include "epilogue/base/result.h"
#include "epilogue/hub/loaded_code.h"
#include "epilogue/ops/custom_op.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/hooks.h"

namespace epi::hub {
namespace {

// Loaded code by manifest hash and device. Never unloaded.
struct Loaded {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<const LoadedCode>> codes;
};
Loaded& loaded() {
  static auto* const loaded = new Loaded;
  return *loaded;
}

Result<std::shared_ptr<const LoadedCode>> load_code(const CheckedVariant& variant, Device device) {
  const Manifest& manifest = *variant.checked.manifest;
  const std::string key = fmt::format("{} {}", variant.checked.sha256, name(device));
  const std::lock_guard lock(loaded().mutex);
  auto& code = loaded().codes[key];
  if (code != nullptr) return code;
  const std::string_view bytes = variant.files.at(manifest.code);
  auto made = device == kCpu ? load_library(manifest, bytes)
                             : load_gpu_kernels(manifest, bytes, device.index);
  if (made) code = *made;
  return made;
}

// "epilogue_glu_v1::gelu_tanh_and_mul": the form that traces use for operators of extensions.
std::string op_name(const Manifest& manifest, std::string_view kernel) {
  std::string name = fmt::format("{}_v{}::{}", manifest.name, manifest.version, kernel);
  std::ranges::replace(name, '/', '_');
  return name;
}

// The operators of exported kernels, by their code, so that a compiler can record calls.
struct ExportOps {
  std::mutex mutex;
  std::map<std::pair<const LoadedCode*, std::string_view>, Op> ops;
};
ExportOps& export_ops() {
  static auto* const ops = new ExportOps;
  return *ops;
}

// Its arguments are the list of inputs, and whether the weights are constant.
Op op_of(const std::shared_ptr<const Manifest>& manifest, const Export& kernel,
         const std::shared_ptr<const LoadedCode>& code, Device device) {
  const std::lock_guard lock(export_ops().mutex);
  const auto known = export_ops().ops.find({code.get(), kernel.name});
  if (known != export_ops().ops.end()) return known->second;
  const auto result = [manifest, &kernel](Args args) {
    return bind_call(kernel, args[0].tensors()).output().tensor;
  };
  const auto run = [manifest, &kernel, code](Args args, const Tensor& out) {
    const bool constant = args[1].flag();
    code->run(bind_call(kernel, args[0].tensors(), out),
              constant ? Weights::kConstant : Weights::kMayChange);
  };
  const Op op =
      detail::add_op({op_name(*manifest, kernel.name), result, {{device.type, run}}, nullptr});
  export_ops().ops.emplace(std::pair(code.get(), std::string_view(kernel.name)), op);
  return op;
}

}  // namespace

Tensor Kernels::call(std::string_view name, std::span<const Tensor> inputs, Weights weights) const {
  const Export* kernel = manifest_->find_export(name);
  if (kernel == nullptr) {
    fail("hub", "{}@{} has no kernel {}", manifest_->name, manifest_->version, name);
  }
  if (detail::capture != nullptr) {
    const Op op = op_of(manifest_, *kernel, code_, device_);
    return dispatch(op, {inputs, weights == Weights::kConstant});
  }
  if (!inputs.empty() && inputs[0].device() != device_) {
    fail(name, "the package was loaded for {}, but the input is on {}", epi::name(device_),
         epi::name(inputs[0].device()));
  }
  const auto full_name = [&] { return op_name(*manifest_, name); };
  return run_custom_op(full_name, inputs, [&] {
    const BoundCall call = bind_call(*kernel, inputs);
    code_->run(call, weights);
    return call.output().tensor;
  });
}

Result<Kernels> load(const Resolution& resolution, Device device) {
  if (const auto refusal = refusal_text(resolution); !refusal.empty()) {
    return failure("{}", refusal);
  }
  const CheckedVariant& chosen = *resolution.chosen;
  Kernels kernels;
  kernels.manifest_ = std::make_shared<const Manifest>(*chosen.checked.manifest);
  kernels.warnings_ = std::make_shared<const std::vector<std::string>>(chosen.checked.warnings);
  kernels.device_ = device;
  auto code = load_code(chosen, device);
  EPI_TRY(code);
  kernels.code_ = std::move(*code);
  return kernels;
}

Result<Kernels> get_kernel(std::string_view name, int64_t version, Device device,
                           const Settings& settings) {
  const auto options = make_options(settings);
  EPI_TRY(options);
  const auto resolution = resolve({std::string(name), version}, this_host(device), *options);
  EPI_TRY(resolution);
  return load(*resolution, device);
}

}  // namespace epi::hub
