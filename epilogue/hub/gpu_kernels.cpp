// SPDX-License-Identifier: Apache-2.0
// Cubins and PTX of packages, launched as the manifest describes.
#include <algorithm>
#include <cstring>
#include <map>

#include "epilogue/base/error.h"
#include "epilogue/compile/gpu/gpu_code.h"
#include "epilogue/compile/gpu/tensor_map.h"
#include "epilogue/cuda/device.h"
#include "epilogue/hub/loaded_code.h"
#include "epilogue/ops/hooks.h"

namespace epi::hub {
namespace {

// Values of a launch's arguments, each at the alignment of a tensor map.
class ArgumentValues {
 public:
  explicit ArgumentValues(size_t count) : values_(count) {}

  template <typename T>
  void set(size_t i, const T& value) {
    static_assert(sizeof(T) <= sizeof(Value));
    std::memcpy(values_[i].bytes, &value, sizeof(T));
  }
  void** addresses() {
    addresses_.clear();
    for (Value& value : values_) addresses_.push_back(value.bytes);
    return addresses_.data();
  }

 private:
  struct alignas(64) Value {
    std::byte bytes[512]{};  // as many zeros as a manifest may ask for
  };
  std::vector<Value> values_;
  std::vector<void*> addresses_;
};

compiler::TensorMap tensor_map_of(const BoundCall& call, const Argument& argument) {
  const OperandMatrix& matrix = call.operands[argument.operand];
  const int64_t rows = argument.box_rows > 0 ? argument.box_rows : matrix.rows;
  return compiler::make_tensor_map(
      {matrix.data, call.dtype, matrix.rows, matrix.columns, matrix.row_stride},
      static_cast<int>(rows), static_cast<int>(argument.box_columns));
}

ArgumentValues values_of(const BoundCall& call, const Launch& launch) {
  const auto& arguments = launch.arguments;
  ArgumentValues values(arguments.size());
  for (size_t i = 0; i < arguments.size(); ++i) {
    const Argument& argument = arguments[i];
    const OperandMatrix& matrix = call.operands[argument.operand];
    switch (argument.kind) {
      case Argument::Kind::kAddress:
        values.set(i, matrix.data);
        break;
      case Argument::Kind::kRowStride:
        values.set(i, matrix.row_stride);
        break;
      case Argument::Kind::kInt:
        values.set(i, static_cast<int32_t>(launch_size(call, launch, argument.size)));
        break;
      case Argument::Kind::kLong:
        values.set(i, launch_size(call, launch, argument.size));
        break;
      case Argument::Kind::kTensorMap:
        values.set(i, tensor_map_of(call, argument));
        break;
      case Argument::Kind::kZeros:
        break;
    }
  }
  return values;
}

class GpuKernels final : public LoadedCode {
 public:
  GpuKernels(std::shared_ptr<const compiler::GpuCode> code, int device, int processors)
      : code_(std::move(code)), device_(device), processors_(processors) {}

  // Finds every kernel, and lets it have the shared memory that it asks for.
  void find(const Manifest& manifest) {
    for (const Export& one : manifest.exports) {
      for (const Launch& launch : one.launches) {
        if (kernels_.contains(launch.kernel)) continue;
        void* kernel = code_->look_up(launch.kernel);
        if (kernel == nullptr) fail("hub", "{} has no kernel {}", manifest.code, launch.kernel);
        compiler::allow_shared_bytes(kernel, launch.shared_bytes, device_);
        kernels_[launch.kernel] = kernel;
      }
    }
  }

  void run(const BoundCall& call, Weights weights) const override {
    const OperandMatrix& output = call.output();
    if (output.rows == 0 || output.columns == 0) return;
    const PlannedLaunch planned = plan_launch(call, processors_);
    const Launch& launch = *planned.launch;
    const bool overlaps = launch.overlap == Overlap::kYes ||
                          (launch.overlap == Overlap::kReadsWeights && weights == Weights::kStay);
    const compiler::GpuLaunch shape{
        kernels_.at(launch.kernel), static_cast<uint32_t>(planned.blocks),
        static_cast<uint32_t>(launch.threads), static_cast<uint32_t>(launch.shared_bytes),
        overlaps && compiler::gpu_overlaps_launches(device_)};
    ArgumentValues values = values_of(call, launch);
    run_launch([&] { return LaunchCost{call.bytes(), call.flops()}; },
               [&] {
                 compiler::launch_gpu(shape, values.addresses(), device_,
                                      compiler::gpu_stream(device_));
               });
  }

 private:
  std::shared_ptr<const compiler::GpuCode> code_;
  int device_;
  int processors_;
  std::map<std::string, void*> kernels_;
};

}  // namespace

Result<std::shared_ptr<const LoadedCode>> load_gpu_kernels(const Manifest& manifest,
                                                           std::string_view bytes, int device) {
  try {
    const auto devices = cuda::devices();
    if (!devices) return tl::unexpected(devices.error());
    const std::string text(bytes);  // PTX is read up to a zero
    auto code =
        compiler::load_gpu_code(std::as_bytes(std::span(text.c_str(), text.size() + 1)), device);
    const int processors = devices->at(static_cast<size_t>(device)).multiprocessors;
    auto kernels = std::make_shared<GpuKernels>(std::move(code), device, processors);
    kernels->find(manifest);
    return kernels;
  } catch (const Error& error) {
    return failure("{}@{} {}: {}", manifest.name, manifest.version, manifest.code, error.what());
  }
}

}  // namespace epi::hub
