// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/gpu/glu_rows.h"

#include <array>
#include <string>

namespace epi::compiler {
namespace {

using pointwise::Function;

// More numbers of rows, and more weights, than a model has. A full cache is cleared.
constexpr size_t kMaxBound = 4096;
constexpr size_t kMaxMaps = 16384;

// The operands of `add`, whose last one is the factor of the second.
std::vector<Term> sum_of(int a, int b) { return {Term{a, 0}, Term{b, 0}, Term{-1, 1}}; }

// act(gate + bias) * (up + bias). Values 0 and 1 are the sums, then come the biases.
GemmCode gate_up_code(const GluCode& glu) {
  GemmCode gemm;
  gemm.gemms = 2;
  gemm.dtype = glu.dtype;
  gemm.n = glu.n;
  gemm.k = glu.k;
  gemm.outputs = {glu.dtype};
  int values = 2;
  const auto bias = [&](bool has_bias) {
    if (has_bias) gemm.operands.push_back({glu.dtype, 0, 1});
    return has_bias ? values++ : -1;
  };
  const int gate_bias = bias(glu.gate_bias);
  const int up_bias = bias(glu.up_bias);
  gemm.program.inputs = values;
  const auto step = [&](Function function, std::vector<Term> terms) {
    gemm.program.steps.push_back({function, std::move(terms)});
    return values++;
  };
  const int gate = gate_bias < 0 ? 0 : step(Function::kAdd, sum_of(0, gate_bias));
  const int up = up_bias < 0 ? 1 : step(Function::kAdd, sum_of(1, up_bias));
  const int active = step(glu.activation, {Term{gate, 0}});
  gemm.program.outputs = {step(Function::kMul, {Term{active, 0}, Term{up, 0}})};
  return gemm;
}

GemmCode down_code(const GluCode& glu) {
  GemmCode gemm;
  gemm.dtype = glu.dtype;
  gemm.n = glu.out;
  gemm.k = glu.n;
  gemm.outputs = {glu.dtype};
  gemm.program.inputs = glu.down_bias ? 2 : 1;
  gemm.program.outputs = {0};
  if (!glu.down_bias) return gemm;
  gemm.operands = {{glu.dtype, 0, 1}};
  gemm.program.steps = {{Function::kAdd, sum_of(0, 1)}};
  gemm.program.outputs = {2};
  return gemm;
}

// The kernel names of a compiled MLP, and thereby its cached code.
std::string gate_up_name(const GluCode& glu) {
  const std::string add = glu.gate_bias || glu.up_bias ? "add_" : "";
  switch (glu.activation) {
    case Function::kSilu:
      return "epi_tem_fused_" + add + "mm_mul_silu_0";
    case Function::kRelu:
      return "epi_tem_fused_" + add + "mm_mul_relu_0";
    default:
      return "epi_tem_fused_" + add + "gelu_mm_mul_0";
  }
}

}  // namespace

GluRows::GluRows(const GluCode& code)
    : code_(code),
      gate_up_(gate_up_name(code), gate_up_code(code), {}, code.device, UseCache::kYes),
      down_(code.down_bias ? "epi_tem_fused_add_mm_1" : "epi_tem_fused_mm_1", down_code(code), {},
            code.device, UseCache::kYes) {}

std::vector<std::function<void()>> GluRows::forms() const {
  std::vector<std::function<void()>> tasks;
  for (const auto& [gemm, depth] : {std::pair(&gate_up_, code_.k), std::pair(&down_, code_.n)}) {
    for (const int half : {128, 96, 64}) {
      tasks.emplace_back([=] { gemm->bind(kMaxStreamRows + 1, depth, HopperTile{half}); });
    }
    // One form for each capacity.
    for (const int64_t rows : {8, 16, 32, 64}) {
      tasks.emplace_back([=] { gemm->bind(rows, depth); });
    }
  }
  return tasks;
}

GluRows::Bound GluRows::bound(int64_t rows) const {
  {
    const std::shared_lock lock(mutex_);
    const auto found = bound_.find(rows);
    if (found != bound_.end()) return *found->second;
  }
  auto calls = std::make_shared<Bound>(gate_up_.bind(rows, code_.k), down_.bind(rows, code_.n));
  calls->gate_up.wait_for_weights();  // the preceding kernel is the caller's
  const std::unique_lock lock(mutex_);
  if (bound_.size() >= kMaxBound) bound_.clear();
  return *bound_.try_emplace(rows, std::move(calls)).first->second;
}

TensorMap GluRows::map_of(const GpuGemmCall& call, const std::byte* weight) const {
  const MapKey key{weight, call.weight_rows(), call.depth(), call.weight_box_rows()};
  {
    const std::shared_lock lock(mutex_);
    const auto found = maps_.find(key);
    if (found != maps_.end()) return found->second;
  }
  const TensorMap map = call.weight_map(weight);
  const std::unique_lock lock(mutex_);
  if (maps_.size() >= kMaxMaps) maps_.clear();
  maps_.try_emplace(key, map);
  return map;
}

void GluRows::start_gate_up(GpuGemmCall call, const std::byte* x, int64_t x_stride,
                            const Weights& weights, std::byte* hidden, CUstream_st* stream) const {
  call.set_row_stride(x_stride);
  call.set_weight_maps(map_of(call, weights.first), map_of(call, weights.second));
  std::array<std::byte*, 2> biases{};
  size_t count = 0;
  for (const std::byte* bias : {weights.first_bias, weights.second_bias}) {
    if (bias != nullptr) biases[count++] = const_cast<std::byte*>(bias);
  }
  call.start(x, hidden, std::span(biases).first(count), code_.device, stream);
}

void GluRows::start_down(GpuGemmCall call, const std::byte* hidden, const Weights& weights,
                         std::byte* y, CUstream_st* stream) const {
  const TensorMap map = map_of(call, weights.first);
  call.set_weight_maps(map, map);
  std::byte* bias = const_cast<std::byte*>(weights.first_bias);
  call.start(hidden, y, std::span(&bias, code_.down_bias ? 1 : 0), code_.device, stream);
}

}  // namespace epi::compiler
