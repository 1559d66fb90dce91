// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/gpu/gpu_gemm.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/gpu/rows_for_copies.h"
#include "epilogue/cuda/attribute.h"
#include "epilogue/cuda/device_guard.h"
#include "epilogue/cuda/relaxed_capture.h"

namespace epi::compiler {
namespace {

// The same layout as the `Operands` of codegen/device/hopper.cuh.
using OperandAddresses = std::array<const std::byte*, kMaxHopperOperands>;

}  // namespace

GpuGemm::GpuGemm(std::string name, GemmCode code, std::vector<Tensor> weights, int device,
                 UseCache cache, int processors)
    : name_(std::move(name)),
      code_(std::move(code)),
      weights_(std::move(weights)),
      device_(device),
      processors_(processors > 0 ? processors
                                 : cuda::attribute(cudaDevAttrMultiProcessorCount, device)),
      cache_(cache) {}

void* GpuGemm::find_kernel(const std::string& name, const std::string& source, int64_t shared_bytes,
                           const std::string& form) const {
  const cuda::DeviceGuard guard(device_);
  const cuda::RelaxedCapture relaxed;  // a new size may occur while the caller captures
  {
    const std::lock_guard lock(mutex_);
    const auto found = variants_.find(source);
    if (found != variants_.end()) return found->second.generated.code->find(name);
  }
  // Without the lock, so that several forms can be generated in parallel.
  Variant variant{form, generate_gpu({source, {}}, device_, cache_)};
  allow_shared_bytes(variant.generated.code->find(name), shared_bytes, device_);
  const std::lock_guard lock(mutex_);
  return variants_.try_emplace(source, std::move(variant)).first->second.generated.code->find(name);
}

GpuGemmCall GpuGemm::bind(int64_t rows, int64_t row_stride, const HopperTile& tile) const {
  EPI_CHECK(fits(tile));
  GpuGemmCall call;
  const int64_t shared = tile.shared_bytes(code_);
  const std::string form =
      fmt::format("tiles of {} rows by {} columns", tile.rows, tile.columns(code_));
  void* kernel = find_kernel(name_, gemm_source(name_, code_, tile), shared, form);
  const int64_t blocks = std::min<int64_t>(tile.tiles(code_, rows), processors_);
  call.launch_ = {kernel, static_cast<uint32_t>(blocks), kTileThreads,
                  static_cast<uint32_t>(shared), true};
  call.x_box_rows_ = tile.rows;
  call.strip_ = tile.strip(code_);
  call.weight_box_rows_ = tile.half;
  return finish_bind(call, rows, row_stride);
}

GpuGemmCall GpuGemm::bind(int64_t rows, int64_t row_stride, const HopperStream& stream) const {
  GpuGemmCall call;
  const int64_t shared = stream.shared_bytes(code_);
  const std::string form = fmt::format("a stream of {} rows of weights at a time for up to {} rows",
                                       stream.rows, stream.tokens);
  void* kernel = find_kernel(stream_name(name_), gemm_source(name_, code_, stream), shared, form);
  const int64_t tiles = (code_.n + stream.rows - 1) / stream.rows;
  const int64_t blocks = std::min<int64_t>(tiles, processors_);
  call.launch_ = {kernel, static_cast<uint32_t>(blocks), kStreamThreads,
                  static_cast<uint32_t>(shared), true};
  call.x_box_rows_ = static_cast<int>(rows);
  call.weight_box_rows_ = stream.rows;
  return finish_bind(call, rows, row_stride);
}

GpuGemmCall GpuGemm::bind(int64_t rows, int64_t row_stride, const HopperDecode& decode) const {
  EPI_CHECK(rows > 0 && rows <= kMaxDecodeRows);
  GpuGemmCall call;
  const std::string form = fmt::format("pieces of weight rows for up to {} rows", kMaxDecodeRows);
  void* kernel =
      find_kernel(decode_name(name_), gemm_source(name_, code_, decode), kMaxSharedBytes, form);
  call.launch_ = {kernel, static_cast<uint32_t>(decode.blocks(code_, processors_)), kDecodeThreads,
                  static_cast<uint32_t>(decode.shared_bytes(code_, rows)), true};
  call.decode_stages_ = decode.stages(code_, rows);
  return finish_bind(call, rows, row_stride);
}

GpuGemmCall GpuGemm::bind(int64_t rows, int64_t row_stride) const {
  if (rows <= kMaxDecodeRows) return bind(rows, row_stride, HopperDecode{});
  return rows <= kMaxStreamRows ? bind(rows, row_stride, choose_stream(code_, rows, processors_))
                                : bind(rows, row_stride, choose_tile(code_, rows, processors_));
}

GpuGemmCall GpuGemm::finish_bind(GpuGemmCall call, int64_t rows, int64_t row_stride) const {
  EPI_CHECK(rows > 0 && rows <= kMaxRows);
  call.x_ = {nullptr, code_.dtype, rows, code_.k, row_stride};
  call.n_ = code_.n;
  if (!weights_.empty()) call.set_weights(weights_.front().raw_data(), weights_.back().raw_data());
  return call;
}

bool GpuGemm::is_fast_for(int64_t rows) const { return fills_gpu(code_, rows, processors_); }

std::vector<std::string> GpuGemm::forms() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> forms;
  for (const auto& [text, variant] : variants_) forms.push_back(variant.form);
  return forms;
}

bool GpuGemm::is_from_cache() const {
  const std::lock_guard lock(mutex_);
  return std::all_of(variants_.begin(), variants_.end(),
                     [](const auto& variant) { return variant.second.generated.from_cache; });
}

std::string GpuGemm::cache_error() const {
  const std::lock_guard lock(mutex_);
  for (const auto& [text, variant] : variants_) {
    if (!variant.generated.cache_error.empty()) return variant.generated.cache_error;
  }
  return "";
}

GpuGemmWeight GpuGemmCall::weight(const std::byte* data) const {
  const int64_t k = x_.columns;
  if (!uses_maps()) return {data, {}};
  return {data, make_tensor_map({data, x_.dtype, n_, k, k}, weight_box_rows_, kTileDepth)};
}

void GpuGemmCall::set_weights(const std::byte* first, const std::byte* second) {
  weights_[0] = weight(first);
  weights_[1] = weight(second);
}

void GpuGemmCall::wait_for_weights() {
  weights_early_ = false;
  if (uses_maps()) launch_.overlaps = false;  // these forms load weights before they wait
}

void GpuGemmCall::start(const std::byte* x, std::byte* out, std::span<std::byte* const> operands,
                        int device, CUstream_st* stream) const {
  start(x, x_.row_stride, weights_[0], weights_[1], out, operands, device, stream);
}

void GpuGemmCall::start(const std::byte* x, int64_t row_stride, const GpuGemmWeight& first,
                        const GpuGemmWeight& second, std::byte* out,
                        std::span<std::byte* const> operands, int device,
                        CUstream_st* stream) const {
  const cuda::DeviceGuard guard(device);
  MapMatrix given = x_;
  given.data = x;
  given.row_stride = row_stride;
  const RowsForCopies readable(given, device, stream);
  MapMatrix rows = readable.get();
  OperandAddresses addresses{};
  std::copy(operands.begin(), operands.end(), addresses.begin());
  auto m = static_cast<int>(rows.rows);
  auto n = static_cast<int>(n_);
  auto k = static_cast<int>(rows.columns);
  if (!uses_maps()) {
    const std::byte* first_data = first.data;
    const std::byte* second_data = second.data;
    int stages = decode_stages_;
    int early = weights_early_ ? 1 : 0;
    void* arguments[] = {&rows.data, &rows.row_stride, &first_data, &second_data,
                         &out,       &addresses,       &m,          &n,
                         &k,         &stages,          &early};
    launch_gpu(launch_, arguments, device, stream);
    return;
  }
  TensorMap x_map = make_tensor_map(rows, x_box_rows_, kTileDepth);
  TensorMap out_map{};
  if (strip_ > 0) {
    out_map = make_tensor_map({out, rows.dtype, rows.rows, n_, n_}, kStoredRows, strip_);
  }
  void* out_argument = strip_ > 0 ? static_cast<void*>(&out_map) : static_cast<void*>(&out);
  // A launch only reads its arguments.
  void* arguments[] = {&x_map,
                       const_cast<TensorMap*>(&first.map),
                       const_cast<TensorMap*>(&second.map),
                       out_argument,
                       &addresses,
                       &m,
                       &n,
                       &k};
  launch_gpu(launch_, arguments, device, stream);
}

bool gpu_has_custom_gemms(int device) {
  return cuda::attribute(cudaDevAttrComputeCapabilityMajor, device) == 9 &&
         cuda::attribute(cudaDevAttrComputeCapabilityMinor, device) == 0;
}

}  // namespace epi::compiler
