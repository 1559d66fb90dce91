// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/gpu/gpu_gemm.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <optional>

#include "epilogue/compile/codegen/cuda_code.h"
#include "epilogue/cuda/allocator.h"
#include "epilogue/cuda/device_guard.h"
#include "epilogue/cuda/error.h"
#include "epilogue/cuda/relaxed_capture.h"

namespace epi::compiler {
namespace {

using cuda::check;

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device), "cudaDeviceGetAttribute");
  return value;
}

// As the `Operands` of codegen/hopper_prelude.cpp.
using OperandAddresses = std::array<const std::byte*, kMostHopperOperands>;

}  // namespace

GpuGemm::GpuGemm(std::string name, GemmCode code, std::vector<Tensor> weights, int device,
                 UseCache cache)
    : name_(std::move(name)),
      code_(std::move(code)),
      weights_(std::move(weights)),
      device_(device),
      processors_(attribute(cudaDevAttrMultiProcessorCount, device)),
      cache_(cache) {}

void* GpuGemm::find_kernel(const std::string& name, const std::string& text,
                           int64_t shared_bytes) const {
  const cuda::DeviceGuard guard(device_);
  const cuda::RelaxedCapture relaxed;  // a new size may come while the caller captures
  const std::lock_guard lock(making_);
  GpuGenerated& made = codes_[text];
  if (made.code == nullptr) {
    made = generate_gpu({cuda_prelude() + hopper_prelude() + text, {}}, device_, cache_);
    check(cudaFuncSetAttribute(made.code->find(name), cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shared_bytes)),
          "cudaFuncSetAttribute");
  }
  return made.code->find(name);
}

GpuGemmCall GpuGemm::bind_tiles(int64_t rows) const {
  const HopperTile tile = choose_tile(code_, rows, processors_);
  GpuGemmCall call;
  call.kernel_ =
      find_kernel(name_, emit_hopper_tiles(name_, code_, tile), tile.shared_bytes(code_));
  call.blocks_ = static_cast<uint32_t>(std::min<int64_t>(tile.tiles(code_, rows), processors_));
  call.threads_ = kTileThreads;
  call.shared_bytes_ = static_cast<uint32_t>(tile.shared_bytes(code_));
  call.x_box_rows_ = kTileRows;
  call.strip_ = tile.strip(code_);
  call.weight_box_rows_ = tile.half;
  return call;
}

GpuGemmCall GpuGemm::bind_stream(int64_t rows) const {
  const HopperStream stream = choose_stream(code_, rows, processors_);
  const std::string name = name_ + "_stream";
  GpuGemmCall call;
  call.kernel_ =
      find_kernel(name, emit_hopper_stream(name, code_, stream), stream.shared_bytes(code_));
  const int64_t tiles = (code_.n + stream.rows - 1) / stream.rows;
  call.blocks_ = static_cast<uint32_t>(std::min<int64_t>(tiles, processors_));
  call.threads_ = kStreamThreads;
  call.shared_bytes_ = static_cast<uint32_t>(stream.shared_bytes(code_));
  call.x_box_rows_ = static_cast<int>(rows);
  call.weight_box_rows_ = stream.rows;
  return call;
}

GpuGemmCall GpuGemm::bind(int64_t rows, int64_t row_stride) const {
  GpuGemmCall call = rows <= kMostStreamRows ? bind_stream(rows) : bind_tiles(rows);
  call.x_ = {nullptr, code_.dtype, rows, code_.k, row_stride};
  call.n_ = code_.n;
  if (!weights_.empty()) call.set_weights(weights_.front().raw_data(), weights_.back().raw_data());
  return call;
}

bool GpuGemm::is_fast_for(int64_t rows) const { return fills_gpu(code_, rows, processors_); }

bool GpuGemm::is_from_cache() const {
  const std::lock_guard lock(making_);
  return std::all_of(codes_.begin(), codes_.end(),
                     [](const auto& code) { return code.second.from_cache; });
}

std::string GpuGemm::not_kept() const {
  const std::lock_guard lock(making_);
  for (const auto& [text, made] : codes_) {
    if (!made.not_kept.empty()) return made.not_kept;
  }
  return "";
}

void GpuGemmCall::set_weights(const std::byte* first, const std::byte* second) {
  const int64_t k = x_.columns;
  weights_[0] = make_tensor_map({first, x_.dtype, n_, k, k}, weight_box_rows_, kTileDepth);
  weights_[1] = make_tensor_map({second, x_.dtype, n_, k, k}, weight_box_rows_, kTileDepth);
}

void GpuGemmCall::start(const std::byte* x, std::byte* out, std::span<std::byte* const> operands,
                        int device, CUstream_st* stream) const {
  const cuda::DeviceGuard guard(device);
  MapMatrix rows = x_;
  rows.data = x;
  std::optional<cuda::Scratch> copy;
  if (!fits_tensor_map(rows)) {
    const auto width = static_cast<size_t>(rows.columns * size_bytes(rows.dtype));
    const auto pitch = static_cast<size_t>(rows.row_stride * size_bytes(rows.dtype));
    copy.emplace(device, static_cast<int64_t>(width) * rows.rows);
    check(cudaMemcpy2DAsync(copy->data(), width, x, pitch, width, static_cast<size_t>(rows.rows),
                            cudaMemcpyDeviceToDevice, stream),
          "cudaMemcpy2DAsync");
    rows.data = static_cast<const std::byte*>(copy->data());
    rows.row_stride = rows.columns;
  }
  TensorMap x_map = make_tensor_map(rows, x_box_rows_, kTileDepth);
  TensorMap out_map{};
  if (strip_ > 0) {
    out_map = make_tensor_map({out, rows.dtype, rows.rows, n_, n_}, kTileRows / 2, strip_);
  }
  OperandAddresses addresses{};
  std::copy(operands.begin(), operands.end(), addresses.begin());
  auto m = static_cast<int>(rows.rows);
  auto n = static_cast<int>(n_);
  auto k = static_cast<int>(rows.columns);
  TensorMap w0 = weights_[0];
  TensorMap w1 = weights_[1];
  void* out_argument = strip_ > 0 ? static_cast<void*>(&out_map) : static_cast<void*>(&out);
  void* arguments[] = {&x_map, &w0, &w1, out_argument, &addresses, &m, &n, &k};

  cudaLaunchAttribute overlap{};
  overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlap.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks_);
  config.blockDim = dim3(threads_);
  config.dynamicSmemBytes = shared_bytes_;
  config.stream = stream;
  config.attrs = &overlap;
  config.numAttrs = 1;
  check(cudaLaunchKernelExC(&config, kernel_, arguments), "cudaLaunchKernelExC");
}

bool gpu_has_own_products(int device) {
  return attribute(cudaDevAttrComputeCapabilityMajor, device) == 9 &&
         attribute(cudaDevAttrComputeCapabilityMinor, device) == 0;
}

}  // namespace epi::compiler
