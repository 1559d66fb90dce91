// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/blocks.h"

#include <algorithm>
#include <optional>

#include "epilogue/analysis/advise/tensor_flow.h"
#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/analysis/index/op_inputs.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

// A GEMM with all work that its operator launched.
struct Gemm {
  GemmShape sizes;
  std::string dtype;
  bool bias = false;
  size_t first = 0;  // indices into the work
  size_t last = 0;
};

std::string dtype_of(std::string_view type) {
  if (type == "c10::BFloat16") return "bf16";
  if (type == "c10::Half") return "f16";
  return type == "float" ? "f32" : "";
}

std::vector<Gemm> find_gemms(const TraceIndex& index, std::span<const EventId> work) {
  std::vector<Gemm> gemms;
  EventId before = kNoEvent;
  for (size_t i = 0; i < work.size(); ++i) {
    const EventId op = index.links.op[work[i]];
    if (op != kNoEvent && op == before) {
      if (!gemms.empty() && gemms.back().last + 1 == i) gemms.back().last = i;
      continue;
    }
    before = op;
    const auto sizes = op == kNoEvent ? std::nullopt : gemm_shape(index.trace, op);
    if (!sizes) continue;
    const std::vector<OpInput> inputs = op_inputs(index.trace, op);
    const bool adds = plain_op(index.trace.name_of(op)).starts_with("add");
    gemms.push_back({*sizes, dtype_of(inputs[1].type), adds, i, i});
  }
  return gemms;
}

bool has_op(const DecodedName& name, std::string_view op) {
  return std::find(name.ops.begin(), name.ops.end(), op) != name.ops.end();
}

// True if a kernel computes gelu with erf. Names of fused kernels do not give the variant.
bool is_erf_gelu(const DecodedName& name, std::string_view kernel) {
  if (name.library == Library::kAten) return !is_tanh_gelu(kernel);
  return kernel.starts_with("pointwise_gelu_") ? !is_tanh_gelu(kernel)
                                               : kernel.find("cuda::Gelu<") != kernel.npos;
}

// "geglu" if the kernels between the GEMMs apply gelu and multiply.
std::string activation_of(const TraceIndex& index, std::span<const EventId> between) {
  bool multiplies = false;
  std::string activation;
  for (const EventId id : between) {
    const DecodedName& name = index.names[index.trace.name[id]];
    multiplies |= has_op(name, "mul");
    if (has_op(name, "silu")) activation = "swiglu";
    if (has_op(name, "gelu")) {
      activation = is_erf_gelu(name, index.trace.name_of(id)) ? "geglu_erf" : "geglu";
    }
  }
  return multiplies ? activation : "";
}

// Three consecutive square linear layers have the same shapes. They differ in what the second one
// reads.
bool is_chain(const TraceIndex& index, const GatedMlp& mlp) {
  const std::vector<FlowNode> nodes = tensor_flow(index, mlp.work);
  for (const FlowNode& node : nodes) {
    const bool reads_activation = is_gemm(node.kind) && &node != &nodes.back() &&
                                  !node.reads.empty() && node.reads[0].maker != kNoNode &&
                                  nodes[node.reads[0].maker].can_join;
    if (reads_activation) return true;
  }
  return false;
}

std::optional<GatedMlp> gated_mlp(const TraceIndex& index, std::span<const EventId> work,
                                  std::span<const Gemm> gemms) {
  const Gemm& gate = gemms[0];
  const Gemm& up = gemms[1];
  const Gemm& down = gemms[2];
  const bool fits = gate.sizes == up.sizes && gate.sizes.batch == 1 &&
                    down.sizes == GemmShape{1, gate.sizes.m, gate.sizes.k, gate.sizes.n};
  if (!fits || gate.dtype.empty() || gate.bias || up.bias || down.bias) return std::nullopt;
  GatedMlp mlp;
  for (size_t i = gate.first; i <= down.last; ++i) {
    mlp.work.push_back(work[i]);
    const bool in_gemm = i <= gate.last || (i >= up.first && i <= up.last) || i >= down.first;
    if (!in_gemm) mlp.between.push_back(work[i]);
  }
  mlp.activation = activation_of(index, mlp.between);
  if (mlp.activation.empty() || is_chain(index, mlp)) return std::nullopt;
  mlp.rows = gate.sizes.m;
  mlp.dim = gate.sizes.k;
  mlp.hidden = gate.sizes.n;
  mlp.dtype = gate.dtype;
  mlp.device_ns = device_time(index.trace, mlp.work);
  return mlp;
}

}  // namespace

bool is_tanh_gelu(std::string_view kernel) {
  return kernel.find("GeluType)::{lambda()#1}") != kernel.npos ||
         kernel.starts_with("pointwise_gelu_tanh_") || kernel.find("GeluTanh<") != kernel.npos;
}

Blocks find_blocks(const TraceIndex& index, std::span<const EventId> work) {
  const std::vector<Gemm> gemms = find_gemms(index, work);
  Blocks blocks;
  for (size_t i = 0; i < gemms.size(); ++i) {
    if (i + 2 < gemms.size()) {
      if (auto mlp = gated_mlp(index, work, std::span(gemms).subspan(i, 3))) {
        blocks.mlps.push_back(std::move(*mlp));
        i += 2;
        continue;
      }
    }
    const Gemm& gemm = gemms[i];
    if (gemm.sizes.batch != 1 || gemm.dtype.empty()) continue;
    Linear linear{gemm.sizes.m, gemm.sizes.k, gemm.sizes.n, gemm.bias, gemm.dtype, {}, 0};
    for (size_t at = gemm.first; at <= gemm.last; ++at) linear.work.push_back(work[at]);
    linear.device_ns = device_time(index.trace, linear.work);
    blocks.linears.push_back(std::move(linear));
  }
  return blocks;
}

}  // namespace epi::analysis
