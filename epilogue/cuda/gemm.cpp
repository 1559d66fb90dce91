// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/gemm.h"

#include <bit>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "epilogue/cuda/allocator.h"
#include "epilogue/cuda/device_guard.h"
#include "epilogue/cuda/gemm_plan.h"
#include "epilogue/cuda/tf32.h"

namespace epi::cuda {
namespace {

// More shapes than any model has. A full cache is cleared, for example after a thousand different
// sequence lengths.
constexpr size_t kMaxPlans = 8192;

// cuBLASLt distinguishes alignments up to this value. TMA and 16-byte accesses need 16.
constexpr int64_t kMaxAlignment = 256;

uint16_t alignment_of(const void* data) {
  const auto address = reinterpret_cast<uintptr_t>(data) | kMaxAlignment;
  return static_cast<uint16_t>(address & -address);
}

PlanKey key_of(const Gemm& g, int device) {
  PlanKey key;
  key.sizes = {g.m, g.n, g.k, g.batch};
  key.strides = {g.a.ld, g.b.ld, g.ld_c, g.ld_out, g.stride_a, g.stride_b, g.stride_out};
  key.alignments = {alignment_of(g.a.data), alignment_of(g.b.data),
                    alignment_of(g.c != nullptr ? g.c : g.out), alignment_of(g.out)};
  key.device = static_cast<uint16_t>(device);
  key.dtype = g.dtype;
  key.activation = g.activation;
  key.a_transposed = g.a.transposed;
  key.b_transposed = g.b.transposed;
  key.has_c = g.c != nullptr;
  key.has_bias = g.bias != nullptr;
  key.tf32 = g.dtype == DType::kF32 && allow_tf32();
  return key;
}

struct KeyHash {
  size_t operator()(const PlanKey& key) const {
    uint64_t words[sizeof(PlanKey) / 8];
    std::memcpy(words, &key, sizeof key);
    uint64_t hash = 0;
    for (const uint64_t word : words) hash = (std::rotl(hash, 5) ^ word) * 0x9E3779B97F4A7C15U;
    return hash ^ (hash >> 32);
  }
};

class PlanCache {
 public:
  std::shared_ptr<const GemmPlan> find_or_make(const PlanKey& key) {
    {
      const std::lock_guard lock(mutex_);
      if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
    }
    auto plan = std::make_shared<const GemmPlan>(make_plan(key));
    const std::lock_guard lock(mutex_);
    if (plans_.size() >= kMaxPlans) plans_.clear();
    return plans_.emplace(key, std::move(plan)).first->second;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<PlanKey, std::shared_ptr<const GemmPlan>, KeyHash> plans_;
};

PlanCache& plan_cache() {
  static auto* const cache = new PlanCache;
  return *cache;
}

void start(const GemmPlan& plan, const Gemm& g, int device) {
  const DeviceGuard guard(device);
  // The descriptor holds the address of the bias, so each call uses its own copy of the descriptor.
  cublasLtMatmulDescOpaque_t desc = plan.desc;
  if (g.bias != nullptr) {
    check(cublaslt().desc_set(&desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &g.bias, sizeof g.bias),
          "cublasLtMatmulDescSetAttribute");
  }
  const auto alpha = static_cast<float>(g.alpha);
  const auto beta = static_cast<float>(g.beta);
  const bool wide = g.dtype == DType::kF64;
  const void* alpha_at = wide ? static_cast<const void*>(&g.alpha) : &alpha;
  const void* beta_at = wide ? static_cast<const void*>(&g.beta) : &beta;
  std::optional<Scratch> scratch;
  if (plan.workspace_bytes > 0 && g.workspace == nullptr) {
    scratch.emplace(device, static_cast<int64_t>(plan.workspace_bytes));
  }
  // cublasLtMatmul only reads the layouts, although the parameters are not const.
  const auto layout = [](const cublasLtMatrixLayoutOpaque_t& l) {
    return const_cast<cublasLtMatrixLayoutOpaque_t*>(&l);
  };
  // In column-major order the GEMM is out^T = b^T a^T.
  check(cublaslt().matmul(
            plan.handle, &desc, alpha_at, g.b.data, layout(plan.b), g.a.data, layout(plan.a),
            beta_at, g.c != nullptr ? g.c : g.out, layout(plan.c), g.out, layout(plan.out),
            &plan.algorithm, scratch ? scratch->data() : static_cast<void*>(g.workspace),
            plan.workspace_bytes, g.stream ? *g.stream : current_stream(device).get()),
        "cublasLtMatmul");
}

}  // namespace

bool try_gemm(const Gemm& gemm, int device) {
  const auto plan = plan_cache().find_or_make(key_of(gemm, device));
  if (plan->exists) start(*plan, gemm, device);
  return plan->exists;
}

}  // namespace epi::cuda
