// SPDX-License-Identifier: Apache-2.0
// Loads cubins and PTX of packages and launches their kernels as described in the manifest.

#include <algorithm>
#include <cstring>
#include <map>

#include "epilogue/base/error.h"
#include "epilogue/base/join.h"
#include "epilogue/base/result.h"
#include "epilogue/compiler/gpu/gpu_code.h"
#include "epilogue/compiler/gpu/tensor_map.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/hub/loaded_code.h"
#include "epilogue/ops/hooks.h"

namespace epi::hub {
namespace {

// The values of a launch's arguments, stored consecutively, each aligned like a tensor map.
class ArgumentValues {
 public:
  explicit ArgumentValues(size_t count) { addresses_.reserve(count); }

  template <typename T>
  void add(const T& value) {
    std::memcpy(allocate(sizeof(T)), static_cast<const void*>(&value), sizeof(T));
  }
  void add_zeros(size_t bytes) { std::memset(allocate(bytes), 0, bytes); }
  void** addresses() { return addresses_.data(); }

 private:
  std::byte* allocate(size_t bytes) {
    const size_t size = (bytes + kArgumentAlignment - 1) / kArgumentAlignment * kArgumentAlignment;
    EPI_CHECK(used_ + size <= sizeof(bytes_));  // the manifest parser checks the total
    std::byte* at = bytes_ + used_;
    used_ += size;
    addresses_.push_back(at);
    return at;
  }

  alignas(kArgumentAlignment) std::byte bytes_[kMaxArgumentBytes];
  size_t used_ = 0;
  std::vector<void*> addresses_;
};

compiler::TensorMap tensor_map_of(const BoundCall& call, const Argument& argument) {
  const OperandMatrix& matrix = call.operands[argument.operand];
  const int64_t rows = argument.box_rows > 0 ? argument.box_rows : matrix.rows;
  return compiler::make_tensor_map(
      {matrix.data, call.dtype, matrix.rows, matrix.columns, matrix.row_stride},
      static_cast<int>(rows), static_cast<int>(argument.box_columns));
}

void fill(ArgumentValues& values, const BoundCall& call, const Launch& launch) {
  for (const Argument& argument : launch.arguments) {
    const OperandMatrix& matrix = call.operands[argument.operand];
    switch (argument.kind) {
      case Argument::Kind::kAddress:
        values.add(matrix.data);
        break;
      case Argument::Kind::kRowStride:
        values.add(matrix.row_stride);
        break;
      case Argument::Kind::kInt:
        values.add(static_cast<int32_t>(launch_size(call, launch, argument.size)));
        break;
      case Argument::Kind::kLong:
        values.add(launch_size(call, launch, argument.size));
        break;
      case Argument::Kind::kTensorMap:
        values.add(tensor_map_of(call, argument));
        break;
      case Argument::Kind::kZeros:
        values.add_zeros(static_cast<size_t>(argument.bytes));
        break;
    }
  }
}

void check_parameters(const Launch& launch, const std::vector<size_t>& parameters) {
  std::vector<size_t> arguments;
  for (const Argument& argument : launch.arguments) arguments.push_back(argument_bytes(argument));
  if (arguments == parameters) return;
  fail("hub", "kernel {} has parameters of {} bytes, but the manifest has arguments of {} bytes",
       launch.kernel, join(parameters, ", "), join(arguments, ", "));
}

class GpuKernels final : public LoadedCode {
 public:
  GpuKernels(std::shared_ptr<const compiler::GpuCode> code, int device, int processors)
      : code_(std::move(code)), device_(device), processors_(processors) {}

  // Looks up every kernel and sets its shared memory limit. Throws `Error` if a kernel is missing
  // or its parameters differ from the manifest's arguments.
  void find(const Manifest& manifest) {
    std::map<std::string, int64_t> shared_bytes;
    for (const Export& one : manifest.exports) {
      for (const Launch& launch : one.launches) {
        void*& kernel = kernels_[launch.kernel];
        if (kernel == nullptr) kernel = code_->look_up(launch.kernel);
        if (kernel == nullptr) fail("hub", "there is no kernel {}", launch.kernel);
        check_parameters(launch, compiler::parameter_bytes(kernel));
        int64_t& largest = shared_bytes[launch.kernel];
        largest = std::max(largest, launch.shared_bytes);
      }
    }
    for (const auto& [name, bytes] : shared_bytes) {
      compiler::allow_shared_bytes(kernels_[name], bytes, device_);
    }
  }

  void run(const BoundCall& call, Weights weights) const override {
    const OperandMatrix& output = call.output();
    if (output.rows == 0 || output.columns == 0) return;
    const PlannedLaunch planned = plan_launch(call, processors_);
    const Launch& launch = *planned.launch;
    const bool overlaps =
        launch.overlap == Overlap::kYes ||
        (launch.overlap == Overlap::kReadsWeights && weights == Weights::kConstant);
    const compiler::GpuLaunch shape{
        kernels_.at(launch.kernel), static_cast<uint32_t>(planned.blocks),
        static_cast<uint32_t>(launch.threads), static_cast<uint32_t>(launch.shared_bytes),
        overlaps && compiler::gpu_overlaps_launches(device_)};
    ArgumentValues values(launch.arguments.size());
    fill(values, call, launch);
    const auto cost = [&] { return LaunchCost{call.bytes(), call.flops()}; };
    run_launch(cost, [&] {
      compiler::launch_gpu(shape, values.addresses(), device_, compiler::gpu_stream(device_));
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
    EPI_TRY(devices);
    const std::string text(bytes);  // PTX must be null-terminated
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
