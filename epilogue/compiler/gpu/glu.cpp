// SPDX-License-Identifier: Apache-2.0
// epilogue/glu.h: chooses between the custom GEMMs and cuBLASLt for each number of rows, and caches
// everything that does not depend on addresses.
#include "epilogue/glu.h"

#include <cuda_runtime_api.h>

#include <atomic>
#include <exception>
#include <optional>
#include <string>

#include "epilogue/base/thread_pool.h"
#include "epilogue/compiler/gpu/glu_rows.h"
#include "epilogue/cuda/cublaslt.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/cuda/cuda_error.h"
#include "epilogue/cuda/device_guard.h"
#include "epilogue/cuda/gemm.h"
#include "epilogue/cuda/glu_gate.h"
#include "epilogue/cuda/relaxed_capture.h"

namespace {

using epi::DType;
using epi::compiler::GluRows;
using epi::compiler::GpuGemm;
using epi::compiler::HopperStream;
using epi::compiler::HopperTile;
using epi::pointwise::Function;

thread_local std::string last_message;

bool is_size(int64_t size) { return size >= 8 && size % 8 == 0 && size <= epi::compiler::kMaxRows; }
bool is_aligned(const void* address) {
  return address != nullptr && reinterpret_cast<uintptr_t>(address) % 16 == 0;
}
// A bias is there if and only if the block has it.
bool is_bias(const void* address, bool has_bias) {
  return has_bias ? is_aligned(address) : address == nullptr;
}

const std::byte* bytes(const void* address) { return static_cast<const std::byte*>(address); }
std::byte* bytes(void* address) { return static_cast<std::byte*>(address); }

std::optional<Function> function_of(epi_glu_activation activation) {
  switch (activation) {
    case EPI_GLU_GELU_TANH:
      return Function::kGeluTanh;
    case EPI_GLU_SILU:
      return Function::kSilu;
    case EPI_GLU_GELU_ERF:
      return Function::kGelu;
    case EPI_GLU_RELU:
      return Function::kRelu;
  }
  return std::nullopt;
}

constexpr size_t kLibraryAlignment = 256;  // of the memory for cuBLASLt

size_t matrix_bytes(int64_t rows, int64_t columns) {
  return static_cast<size_t>(rows) * static_cast<size_t>(columns) * 2;
}

// The default stream, which is null, cannot be captured.
bool is_capturing(CUstream_st* stream) {
  if (stream == nullptr) return false;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  epi::cuda::check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace

struct epi_glu {
  epi_glu_block block;
  DType dtype;
  Function activation;
  GluRows rows;
  std::atomic<bool> is_prepared = false;
  bool has_library = false;  // cuBLASLt is installed
  mutable std::atomic<bool> was_captured = false;

  epi_glu(const epi_glu_block& given, DType type, Function function)
      : block(given),
        dtype(type),
        activation(function),
        rows({.dtype = type,
              .activation = function,
              .device = given.device,
              .k = given.k,
              .n = given.n,
              .out = given.out,
              .gate_bias = has(EPI_GLU_GATE_BIAS),
              .up_bias = has(EPI_GLU_UP_BIAS),
              .down_bias = has(EPI_GLU_DOWN_BIAS)}) {}

  bool has(epi_glu_bias bias) const { return (block.biases & bias) != 0; }

  // Whether cuBLASLt computes gate and up.
  bool splits_gate_up(int64_t m, epi_glu_path path) const {
    if (path != EPI_GLU_AUTO || !has_library) return path == EPI_GLU_LIBRARY;
    return !rows.gate_up().is_fast_for(m);
  }
  bool splits_down(int64_t m, epi_glu_path path) const {
    if (path != EPI_GLU_AUTO || !has_library) {
      return path == EPI_GLU_LIBRARY || path == EPI_GLU_LIBRARY_DOWN;
    }
    return !rows.down().is_fast_for(m);
  }
  // Whether one kernel computes all of it. It writes y while it reads x.
  bool is_one_kernel(const epi_glu_call& call) const {
    if (call.path != EPI_GLU_AUTO && call.path != EPI_GLU_CUSTOM) return false;
    const std::byte* x = bytes(call.x);
    const std::byte* y = bytes(call.y);
    const bool overlap =
        x < y + matrix_bytes(call.m, block.out) && y < x + matrix_bytes(call.m, call.x_stride);
    return !overlap && rows.mlp().choose(call.m).has_value();
  }
  // The hidden activations, a multiple of 16 bytes; with cuBLASLt also up, and memory for the
  // library.
  size_t workspace_bytes(int64_t m, epi_glu_path path) const {
    const bool splits = splits_gate_up(m, path);
    const bool uses_library = splits || splits_down(m, path);
    return matrix_bytes(m, block.n) * (splits ? 2 : 1) +
           (uses_library ? kLibraryAlignment + static_cast<size_t>(epi::cuda::kGemmWorkspaceBytes)
                         : 0);
  }
  // The memory for cuBLASLt, at the end of the workspace.
  std::byte* library_workspace(const epi_glu_call& call) const {
    const auto end = reinterpret_cast<uintptr_t>(call.workspace) + call.workspace_bytes -
                     static_cast<size_t>(epi::cuda::kGemmWorkspaceBytes);
    return reinterpret_cast<std::byte*>(end / kLibraryAlignment * kLibraryAlignment);
  }

  epi_glu_status check(const epi_glu_call& call) const;
  void run(const epi_glu_call& call) const;
  void run_library(const epi_glu_call& call, const void* in, int64_t in_stride, const void* weight,
                   const void* bias, void* out, int64_t columns, int64_t depth) const;
};

// out = in @ weight.t() + bias
void epi_glu::run_library(const epi_glu_call& call, const void* in, int64_t in_stride,
                          const void* weight, const void* bias, void* out, int64_t columns,
                          int64_t depth) const {
  epi::cuda::Gemm gemm;
  gemm.dtype = dtype;
  gemm.m = call.m;
  gemm.n = columns;
  gemm.k = depth;
  gemm.a = {bytes(in), in_stride, false};
  gemm.b = {bytes(weight), depth, true};
  gemm.bias = bytes(bias);
  gemm.out = bytes(out);
  gemm.ld_out = columns;
  gemm.stream = call.stream;
  gemm.workspace = library_workspace(call);
  if (!epi::cuda::try_gemm(gemm, block.device)) {
    epi::fail("glu", "cuBLASLt has no algorithm for m {}, n {}, k {}", gemm.m, gemm.n, gemm.k);
  }
}

void epi_glu::run(const epi_glu_call& call) const {
  const GluRows::Weights weights = {bytes(call.gate),    bytes(call.up),
                                    bytes(call.down),    bytes(call.gate_bias),
                                    bytes(call.up_bias), bytes(call.down_bias)};
  if (is_one_kernel(call)) {
    rows.start_mlp(call.m, bytes(call.x), call.x_stride, weights, bytes(call.y), call.stream);
    return;
  }
  const bool splits_up = splits_gate_up(call.m, call.path);
  const bool splits_out = splits_down(call.m, call.path);
  std::byte* hidden = bytes(call.workspace);
  if (splits_up) {
    std::byte* up = hidden + matrix_bytes(call.m, block.n);
    run_library(call, call.x, call.x_stride, call.gate, call.gate_bias, hidden, block.n, block.k);
    run_library(call, call.x, call.x_stride, call.up, call.up_bias, up, block.n, block.k);
    const epi::cuda::DeviceGuard device(block.device);
    epi::cuda::launch_glu_gate(dtype, activation, {hidden, up, hidden, call.m * block.n},
                               call.stream);
    epi::cuda::check(cudaGetLastError(), "glu_gate");
  } else {
    rows.start_gate_up(call.m, bytes(call.x), call.x_stride, weights, hidden, call.stream);
  }
  if (splits_out) {
    run_library(call, hidden, block.n, call.down, call.down_bias, call.y, block.out, block.n);
  } else {
    rows.start_down(call.m, hidden, weights, bytes(call.y), call.stream);
  }
}

epi_glu_status epi_glu::check(const epi_glu_call& call) const {
  if (call.m < 1 || call.m > epi::compiler::kMaxRows) return EPI_GLU_BAD_SIZE;
  if (call.x_stride < block.k || call.x_stride % 8 != 0) return EPI_GLU_BAD_SIZE;
  for (const void* address :
       {call.x, call.gate, call.up, call.down, static_cast<const void*>(call.y),
        static_cast<const void*>(call.workspace)}) {
    if (!is_aligned(address)) return EPI_GLU_BAD_ADDRESS;
  }
  if (!is_bias(call.gate_bias, has(EPI_GLU_GATE_BIAS)) ||
      !is_bias(call.up_bias, has(EPI_GLU_UP_BIAS)) ||
      !is_bias(call.down_bias, has(EPI_GLU_DOWN_BIAS))) {
    return EPI_GLU_BAD_ADDRESS;
  }
  if (call.path < EPI_GLU_AUTO || call.path > EPI_GLU_LIBRARY_DOWN) return EPI_GLU_UNSUPPORTED;
  if (call.path >= EPI_GLU_LIBRARY && !has_library) return EPI_GLU_UNSUPPORTED;
  if (call.workspace_bytes < workspace_bytes(call.m, call.path)) return EPI_GLU_WORKSPACE;
  return EPI_GLU_OK;
}

const char* epi_glu_status_text(epi_glu_status status) {
  switch (status) {
    case EPI_GLU_OK:
      return "success";
    case EPI_GLU_BAD_SIZE:
      return "m must be at least 1; n, k, out and the row stride of x multiples of 8";
    case EPI_GLU_BAD_ADDRESS:
      return "an address is null or not a multiple of 16, or a bias does not match the block";
    case EPI_GLU_WORKSPACE:
      return "the workspace is smaller than epi_glu_workspace_bytes";
    case EPI_GLU_NOT_PREPARED:
      return "epi_glu_prepare was not called";
    case EPI_GLU_UNSUPPORTED:
      return "this needs a Hopper GPU (compute capability 9.0), bf16 or f16, gelu, silu or relu";
    case EPI_GLU_FAILED:
      return "a CUDA call failed: see epi_glu_message";
  }
  return "unknown status";
}

epi_glu_status epi_glu_create(const epi_glu_block* block, epi_glu** out) {
  last_message.clear();
  if (out == nullptr || block == nullptr) return EPI_GLU_BAD_ADDRESS;
  *out = nullptr;
  if (block->struct_size != sizeof(epi_glu_block)) return EPI_GLU_UNSUPPORTED;
  const auto activation = function_of(block->activation);
  const bool known = block->dtype == EPI_GLU_BF16 || block->dtype == EPI_GLU_F16;
  if (!known || !activation || block->biases > 7) return EPI_GLU_UNSUPPORTED;
  if (!is_size(block->n) || !is_size(block->k) || !is_size(block->out)) return EPI_GLU_BAD_SIZE;
  try {
    if (!epi::compiler::gpu_has_custom_gemms(block->device)) return EPI_GLU_UNSUPPORTED;
    *out =
        new epi_glu(*block, block->dtype == EPI_GLU_BF16 ? DType::kBF16 : DType::kF16, *activation);
  } catch (const std::exception& error) {  // no driver, an old one, or no such device
    last_message = error.what();
    return EPI_GLU_UNSUPPORTED;
  }
  return EPI_GLU_OK;
}

// Waits, because launches may still run the code.
void epi_glu_destroy(epi_glu* glu) {
  if (glu == nullptr) return;
  try {
    epi::cuda::synchronize(glu->block.device);
  } catch (const std::exception&) {  // failed work: reported where it is awaited
  }
  if (!glu->was_captured) delete glu;  // graphs may run the code at any time
}

epi_glu_status epi_glu_prepare(epi_glu* glu) {
  last_message.clear();
  if (glu == nullptr) return EPI_GLU_BAD_ADDRESS;
  if (glu->is_prepared) return EPI_GLU_OK;
  const epi::cuda::RelaxedCapture relaxed;  // the caller may be capturing a stream
  try {
    const epi::cuda::DeviceGuard device(glu->block.device);
    const auto forms = glu->rows.forms();
    epi::parallel_for(static_cast<int64_t>(forms.size()), 1, [&](int64_t begin, int64_t end) {
      // Stays set in a worker: to set device 0 again would create a context there.
      epi::cuda::check(cudaSetDevice(glu->block.device), "cudaSetDevice");
      for (int64_t i = begin; i < end; ++i) forms[static_cast<size_t>(i)]();
    });
    epi::cuda::load_glu_gate(glu->dtype, glu->activation, glu->block.device);
  } catch (const std::exception& error) {
    last_message = error.what();
    return EPI_GLU_FAILED;
  }
  try {
    epi::cuda::cublaslt_handle(glu->block.device);
    glu->has_library = true;
  } catch (const std::exception&) {  // not installed: the custom kernels serve all rows
  }
  glu->is_prepared = true;
  return EPI_GLU_OK;
}

const char* epi_glu_message(void) { return last_message.c_str(); }

size_t epi_glu_workspace_bytes(const epi_glu* glu, int64_t m, epi_glu_path path) {
  return glu == nullptr || m < 1 ? 0 : glu->workspace_bytes(m, path);
}

epi_glu_status epi_glu_run(const epi_glu* glu, const epi_glu_call* call) {
  last_message.clear();
  if (glu == nullptr || call == nullptr) return EPI_GLU_BAD_ADDRESS;
  if (call->struct_size != sizeof(epi_glu_call)) return EPI_GLU_UNSUPPORTED;
  if (!glu->is_prepared) return EPI_GLU_NOT_PREPARED;
  if (const epi_glu_status status = glu->check(*call); status != EPI_GLU_OK) return status;
  try {
    if (!glu->was_captured && is_capturing(call->stream)) glu->was_captured = true;
    glu->run(*call);
  } catch (const std::exception& error) {
    last_message = error.what();
    return EPI_GLU_FAILED;
  }
  return EPI_GLU_OK;
}
