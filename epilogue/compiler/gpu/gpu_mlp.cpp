// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/gpu/gpu_mlp.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>

#include "epilogue/compiler/gpu/rows_for_copies.h"
#include "epilogue/cuda/attribute.h"
#include "epilogue/cuda/device_guard.h"
#include "epilogue/cuda/relaxed_capture.h"

namespace epi::compiler {
namespace {

// The same layouts as in codegen/device/hopper.cuh and mlp.cuh.
using OperandAddresses = std::array<const std::byte*, kMaxHopperOperands>;
struct MlpSizes {
  int m, n, k, out;
  int row_groups;
  int early;
};

OperandAddresses addresses_of(std::span<std::byte* const> operands) {
  OperandAddresses addresses{};
  std::copy(operands.begin(), operands.end(), addresses.begin());
  return addresses;
}

}  // namespace

GpuMlp::GpuMlp(const std::string& name, GemmCode first, GemmCode second, int device, UseCache cache)
    : name_(mlp_name(name)),
      first_(std::move(first)),
      second_(std::move(second)),
      device_(device),
      processors_(cuda::attribute(cudaDevAttrMultiProcessorCount, device)),
      cache_(cache) {}

std::optional<HopperMlp> GpuMlp::choose(int64_t rows) const {
  return choose_mlp(first_, second_, rows, processors_);
}

void* GpuMlp::kernel() const {
  const std::lock_guard lock(mutex_);
  if (!generated_) {
    const cuda::DeviceGuard guard(device_);
    const cuda::RelaxedCapture relaxed;  // the first call may occur while the caller captures
    GpuGenerated generated =
        generate_gpu({mlp_source(name_, first_, second_), {}}, device_, cache_);
    allow_shared_bytes(generated.code->find(name_), kMaxSharedBytes, device_);
    generated_ = std::move(generated);
  }
  return generated_->code->find(name_);
}

void GpuMlp::prepare() const { kernel(); }

void GpuMlp::start(const HopperMlp& mlp, int64_t rows, const GpuMlpData& data, bool early,
                   CUstream_st* stream) const {
  const cuda::DeviceGuard guard(device_);
  const RowsForCopies x({data.x, first_.dtype, rows, first_.k, data.x_stride}, device_, stream);
  OperandAddresses operands = addresses_of(data.operands);
  OperandAddresses down_operands = addresses_of(data.down_operands);
  MlpSizes sizes{static_cast<int>(rows),
                 static_cast<int>(first_.n),
                 static_cast<int>(first_.k),
                 static_cast<int>(second_.n),
                 mlp.row_groups,
                 early ? 1 : 0};
  MapMatrix matrix = x.get();
  const std::byte* w0 = data.w0;
  const std::byte* w1 = data.w1;
  const std::byte* down = data.down;
  std::byte* y = data.y;
  void* arguments[] = {&matrix.data, &matrix.row_stride, &w0,   &w1, &down, &y,
                       &operands,    &down_operands,     &sizes};
  GpuLaunch launch{kernel(), static_cast<uint32_t>(mlp.blocks(rows)), kMlpThreads,
                   static_cast<uint32_t>(mlp.shared_bytes(first_, second_)), true};
  launch.cluster = kMlpBlocks;
  launch_gpu(launch, arguments, device_, stream);
}

bool GpuMlp::is_prepared() const {
  const std::lock_guard lock(mutex_);
  return generated_.has_value();
}

bool GpuMlp::is_from_cache() const {
  const std::lock_guard lock(mutex_);
  return !generated_ || generated_->from_cache;
}

std::string GpuMlp::cache_error() const {
  const std::lock_guard lock(mutex_);
  return generated_ ? generated_->cache_error : "";
}

}  // namespace epi::compiler
