// SPDX-License-Identifier: Apache-2.0
#include "epilogue/glu.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/cuda/cuda_device.h"

namespace {

using epi::DType;
using epi::compiler::GemmCode;
using epi::compiler::GpuGemm;
using epi::compiler::GpuGemmCall;
using epi::compiler::Step;
using epi::compiler::Term;
using epi::pointwise::Function;

using Sizes = std::array<int64_t, 3>;  // m, n, k

struct Prepared {
  GpuGemmCall gate_up;
  GpuGemmCall down;
};

bool are_valid(const Sizes& sizes) {
  const auto [m, n, k] = sizes;
  const int64_t largest = std::max({m, n, k});
  return m >= 1 && n >= 8 && k >= 8 && n % 8 == 0 && k % 8 == 0 &&
         largest <= epi::compiler::kMaxRows;
}

bool is_aligned(const void* address) {
  return address != nullptr && reinterpret_cast<uintptr_t>(address) % 16 == 0;
}

const std::byte* bytes(const void* address) { return static_cast<const std::byte*>(address); }
std::byte* bytes(void* address) { return static_cast<std::byte*>(address); }

}  // namespace

struct epi_glu {
  int device = 0;
  DType dtype = DType::kBF16;
  epi_glu_activation activation = EPI_GLU_SILU;
  std::string message;
  mutable std::shared_mutex mutex;
  std::map<Sizes, Prepared> prepared;
  struct Gemms {
    std::unique_ptr<GpuGemm> gate_up;
    std::unique_ptr<GpuGemm> down;
  };
  std::map<std::pair<int64_t, int64_t>, Gemms> gemms;  // by n and k

  GemmCode gate_up_code(int64_t n, int64_t k) const {
    GemmCode gemm;
    gemm.gemms = 2;
    gemm.dtype = dtype;
    gemm.n = n;
    gemm.k = k;
    gemm.outputs = {dtype};
    gemm.program.inputs = 2;
    const bool by_gelu = activation == EPI_GLU_GELU_TANH;
    const Step active{by_gelu ? Function::kGeluTanh : Function::kSilu, {Term{0, 0}}};
    gemm.program.steps = {active, {Function::kMul, {Term{2, 0}, Term{1, 0}}}};
    gemm.program.outputs = {3};
    return gemm;
  }
  GemmCode down_code(int64_t n, int64_t k) const {
    GemmCode gemm;
    gemm.dtype = dtype;
    gemm.n = k;
    gemm.k = n;
    gemm.outputs = {dtype};
    gemm.program.inputs = 1;
    gemm.program.outputs = {0};
    return gemm;
  }
  // Uses the kernel names of a compiled MLP, and thereby its cached code.
  Gemms make_gemms(int64_t n, int64_t k) const {
    const bool by_gelu = activation == EPI_GLU_GELU_TANH;
    const char* gate_up = by_gelu ? "epi_tem_fused_gelu_mm_mul_0" : "epi_tem_fused_mm_mul_silu_0";
    const auto make = [&](const char* name, GemmCode gemm) {
      return std::make_unique<GpuGemm>(name, std::move(gemm), std::vector<epi::Tensor>{}, device,
                                       epi::compiler::UseCache::kYes);
    };
    return {make(gate_up, gate_up_code(n, k)), make("epi_tem_fused_mm_1", down_code(n, k))};
  }
};

const char* epi_glu_status_text(epi_glu_status status) {
  switch (status) {
    case EPI_GLU_OK:
      return "success";
    case EPI_GLU_BAD_SIZE:
      return "m must be at least 1, n and k multiples of 8";
    case EPI_GLU_BAD_ADDRESS:
      return "an address is null or not a multiple of 16";
    case EPI_GLU_WORKSPACE:
      return "the workspace is smaller than epi_glu_workspace_bytes";
    case EPI_GLU_NOT_PREPARED:
      return "epi_glu_prepare was not called with these sizes";
    case EPI_GLU_UNSUPPORTED:
      return "this needs a Hopper GPU (compute capability 9.0), bf16 or f16, gelu or silu";
    case EPI_GLU_FAILED:
      return "a CUDA call failed";
  }
  return "unknown status";
}

epi_glu_status epi_glu_create(int device, epi_glu_dtype dtype, epi_glu_activation activation,
                              epi_glu** out) {
  if (out == nullptr) return EPI_GLU_BAD_ADDRESS;
  *out = nullptr;
  const bool known = (dtype == EPI_GLU_BF16 || dtype == EPI_GLU_F16) &&
                     (activation == EPI_GLU_GELU_TANH || activation == EPI_GLU_SILU);
  if (!known) return EPI_GLU_UNSUPPORTED;
  try {
    if (!epi::compiler::gpu_has_custom_gemms(device)) return EPI_GLU_UNSUPPORTED;
    auto glu = std::make_unique<epi_glu>();
    glu->device = device;
    glu->dtype = dtype == EPI_GLU_BF16 ? DType::kBF16 : DType::kF16;
    glu->activation = activation;
    *out = glu.release();
  } catch (const std::exception&) {  // no such device
    return EPI_GLU_UNSUPPORTED;
  }
  return EPI_GLU_OK;
}

// Waits, because launches may still run the code.
void epi_glu_destroy(epi_glu* glu) {
  if (glu == nullptr) return;
  try {
    epi::cuda::synchronize(glu->device);
  } catch (const std::exception&) {  // failed work: reported where it is awaited
  }
  delete glu;
}

epi_glu_status epi_glu_prepare(epi_glu* glu, int64_t m, int64_t n, int64_t k) {
  const Sizes sizes{m, n, k};
  if (glu == nullptr) return EPI_GLU_BAD_ADDRESS;
  if (!are_valid(sizes)) return EPI_GLU_BAD_SIZE;
  const std::unique_lock lock(glu->mutex);
  glu->message.clear();
  if (glu->prepared.contains(sizes)) return EPI_GLU_OK;
  try {
    epi_glu::Gemms& gemms = glu->gemms[{n, k}];
    if (gemms.down == nullptr) gemms = glu->make_gemms(n, k);
    Prepared calls{gemms.gate_up->bind(m, k), gemms.down->bind(m, n)};
    calls.gate_up.wait_for_weights();  // the preceding kernel is the caller's
    glu->prepared.emplace(sizes, calls);
  } catch (const std::exception& error) {
    glu->message = error.what();
    return EPI_GLU_FAILED;
  }
  return EPI_GLU_OK;
}

const char* epi_glu_message(const epi_glu* glu) {
  return glu == nullptr ? "" : glu->message.c_str();
}

size_t epi_glu_workspace_bytes(int64_t m, int64_t n, int64_t k) {
  return are_valid({m, n, k}) ? static_cast<size_t>(m) * static_cast<size_t>(n) * 2 : 0;
}

epi_glu_status epi_glu_mlp(const epi_glu* glu, CUstream_st* stream, const void* x, const void* gate,
                           const void* up, const void* down, void* y, int64_t m, int64_t n,
                           int64_t k, void* workspace, size_t workspace_bytes) {
  if (glu == nullptr) return EPI_GLU_BAD_ADDRESS;
  const Sizes sizes{m, n, k};
  if (!are_valid(sizes)) return EPI_GLU_BAD_SIZE;
  for (const void* address :
       {x, gate, up, down, static_cast<const void*>(y), static_cast<const void*>(workspace)}) {
    if (!is_aligned(address)) return EPI_GLU_BAD_ADDRESS;
  }
  if (workspace_bytes < epi_glu_workspace_bytes(m, n, k)) return EPI_GLU_WORKSPACE;
  try {
    Prepared calls;
    {
      const std::shared_lock lock(glu->mutex);
      const auto found = glu->prepared.find(sizes);
      if (found == glu->prepared.end()) return EPI_GLU_NOT_PREPARED;
      calls = found->second;
    }
    calls.gate_up.set_weights(bytes(gate), bytes(up));
    calls.down.set_weights(bytes(down), bytes(down));
    calls.gate_up.start(bytes(x), bytes(workspace), {}, glu->device, stream);
    calls.down.start(bytes(workspace), bytes(y), {}, glu->device, stream);
  } catch (const std::exception&) {
    return EPI_GLU_FAILED;
  }
  return EPI_GLU_OK;
}
