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

std::string down_name(const GluCode& glu) {
  return glu.down_bias ? "epi_tem_fused_add_mm_1" : "epi_tem_fused_mm_1";
}

}  // namespace

std::vector<std::string> glu_sources(const GluCode& code) {
  std::vector<std::string> sources;
  for (const auto& [name, gemm] : {std::pair(gate_up_name(code), gate_up_code(code)),
                                   std::pair(down_name(code), down_code(code))}) {
    for (const HopperTile& tile : hopper_tiles()) sources.push_back(gemm_source(name, gemm, tile));
    for (const HopperStream& stream : hopper_streams()) {
      sources.push_back(gemm_source(name, gemm, stream));
    }
    sources.push_back(gemm_source(name, gemm, HopperDecode{}));
  }
  sources.push_back(mlp_source(mlp_name(gate_up_name(code)), gate_up_code(code), down_code(code)));
  return sources;
}

GluRows::GluRows(const GluCode& code)
    : code_(code),
      gate_up_(gate_up_name(code), gate_up_code(code), {}, code.device, UseCache::kYes),
      down_(down_name(code), down_code(code), {}, code.device, UseCache::kYes),
      mlp_(gate_up_name(code), gate_up_code(code), down_code(code), code.device, UseCache::kYes) {}

std::vector<std::function<void()>> GluRows::forms() const {
  std::vector<std::function<void()>> tasks;
  for (const auto& [gemm, depth] : {std::pair(&gate_up_, code_.k), std::pair(&down_, code_.n)}) {
    for (const HopperTile& tile : hopper_tiles()) {
      if (!gemm->fits(tile)) continue;
      tasks.emplace_back([=] { gemm->bind(kMaxStreamRows + 1, depth, tile); });
    }
    // One form for each capacity.
    for (const int64_t rows : {8, 16, 32, 64}) {
      tasks.emplace_back([=] { gemm->bind(rows, depth); });
    }
  }
  if (mlp_.is_useful()) tasks.emplace_back([this] { mlp_.prepare(); });
  return tasks;
}

std::shared_ptr<const GluRows::Bound> GluRows::bind(int64_t rows) const {
  auto calls = std::make_shared<Bound>(gate_up_.bind(rows, code_.k), down_.bind(rows, code_.n));
  calls->gate_up.wait_for_weights();  // the preceding kernel is the caller's
  return calls;
}

// Null if it is not in the cache. The caller holds the lock.
const TensorMap* GluRows::find_map(const GpuGemmCall& call, const std::byte* weight) const {
  const auto found = maps_.find({weight, call.weight_rows(), call.depth(), call.weight_box_rows()});
  return found == maps_.end() ? nullptr : &found->second;
}

GluRows::Launch GluRows::launch_of(int64_t rows, Part part, const std::byte* first,
                                   const std::byte* second) const {
  const auto call_of = [part](const Bound& calls) -> const GpuGemmCall& {
    return part == Part::kGateUp ? calls.gate_up : calls.down;
  };
  std::shared_ptr<const Bound> bound;
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = bound_.find(rows); found != bound_.end()) {
      bound = found->second;
      const GpuGemmCall& call = call_of(*bound);
      if (!call.uses_maps()) return {std::move(bound), {first, {}}, {second, {}}};
      const TensorMap* first_map = find_map(call, first);
      const TensorMap* second_map = first == second ? first_map : find_map(call, second);
      if (first_map != nullptr && second_map != nullptr) {
        return {std::move(bound), {first, *first_map}, {second, *second_map}};
      }
    }
  }
  if (bound == nullptr) bound = bind(rows);
  const GpuGemmCall& call = call_of(*bound);
  Launch launch{bound, call.weight(first), call.weight(second)};
  const std::unique_lock lock(mutex_);
  if (bound_.size() >= kMaxBound) bound_.clear();
  bound_.try_emplace(rows, bound);
  if (!call.uses_maps()) return launch;
  if (maps_.size() >= kMaxMaps) maps_.clear();
  for (const GpuGemmWeight& weight : {launch.first, launch.second}) {
    maps_.try_emplace({weight.data, call.weight_rows(), call.depth(), call.weight_box_rows()},
                      weight.map);
  }
  return launch;
}

namespace {

// Those that exist, as operands of an epilogue.
class GateUpBiases {
 public:
  explicit GateUpBiases(const GluRows::Weights& weights) {
    for (const std::byte* bias : {weights.gate_bias, weights.up_bias}) {
      if (bias != nullptr) addresses_[count_++] = const_cast<std::byte*>(bias);
    }
  }
  std::span<std::byte* const> get() const { return std::span(addresses_).first(count_); }

 private:
  std::array<std::byte*, 2> addresses_{};
  size_t count_ = 0;
};

}  // namespace

void GluRows::start_gate_up(int64_t rows, const std::byte* x, int64_t x_stride,
                            const Weights& weights, std::byte* hidden, CUstream_st* stream) const {
  const Launch launch = launch_of(rows, Part::kGateUp, weights.gate, weights.up);
  const GateUpBiases biases(weights);
  launch.bound->gate_up.start(x, x_stride, launch.first, launch.second, hidden, biases.get(),
                              code_.device, stream);
}

void GluRows::start_down(int64_t rows, const std::byte* hidden, const Weights& weights,
                         std::byte* y, CUstream_st* stream) const {
  const Launch launch = launch_of(rows, Part::kDown, weights.down, weights.down);
  std::byte* bias = const_cast<std::byte*>(weights.down_bias);
  launch.bound->down.start(hidden, code_.n, launch.first, launch.second, y,
                           std::span(&bias, code_.down_bias ? 1 : 0), code_.device, stream);
}

void GluRows::start_mlp(int64_t rows, const std::byte* x, int64_t x_stride, const Weights& weights,
                        std::byte* y, CUstream_st* stream) const {
  const GateUpBiases biases(weights);
  std::byte* down_bias = const_cast<std::byte*>(weights.down_bias);
  GpuMlpData data;
  data.x = x;
  data.x_stride = x_stride;
  data.w0 = weights.gate;
  data.w1 = weights.up;
  data.down = weights.down;
  data.y = y;
  data.operands = biases.get();
  data.down_operands = std::span(&down_bias, code_.down_bias ? 1 : 0);
  // The preceding kernel is the caller's, and may write the weights.
  mlp_.start(mlp_.choose(rows).value(), rows, data, false, stream);
}

}  // namespace epi::compiler
