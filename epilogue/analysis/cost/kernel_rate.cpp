// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/cost/kernel_rate.h"

#include <algorithm>

#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/analysis/index/enclosing.h"
#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/trace/event_args.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

constexpr size_t kMaxSamples = 256;

// The enclosing attention call, whose inputs are [batch, heads, sequence, width]. Operators below
// it use other layouts.
EventId attention_call(const TraceIndex& index, EventId op) {
  return find_enclosing(index, op, [&](EventId id) {
    return index.trace.name_of(id) == "aten::scaled_dot_product_attention";
  });
}

// A causal mask skips half of the scores.
bool is_causal(const trace::Trace& trace, EventId call) {
  constexpr size_t kCausalIndex = 5;
  const auto concrete =
      trace::array_items(trace::find_value(trace.args_of(call), "Concrete Inputs").value_or(""));
  return concrete.size() > kCausalIndex && concrete[kCausalIndex] == "\"True\"";
}

// Two GEMMs per head: scores, and scores times values. Forward only.
std::optional<double> attention_flops(const TraceIndex& index, EventId op) {
  const EventId call = attention_call(index, op);
  if (call == kNoEvent) return std::nullopt;
  const std::vector<OpInput> inputs = op_inputs(index.trace, call);
  if (inputs.size() < 3) return std::nullopt;
  const auto& q = inputs[0].dims;
  const auto& k = inputs[1].dims;
  if (q.size() != 4 || k.size() != 4) return std::nullopt;
  double flops = 4;
  for (const int64_t size : q) flops *= static_cast<double>(size);
  flops *= static_cast<double>(k[2]);
  return is_causal(index.trace, call) ? flops / 2 : flops;
}

size_t kernels_of_op(const TraceIndex& index, EventId kernel) {
  const EventId op = index.links.op[kernel];
  // Profilers write an operator's kernels close to each other.
  constexpr EventId kNear = 8;
  const EventId first = kernel > kNear ? kernel - kNear : 0;
  const EventId last = std::min<EventId>(index.trace.size(), kernel + kNear + 1);
  size_t count = 0;
  for (EventId id = first; id < last; ++id) {
    const bool is_kernel = index.trace.category[id] == trace::Category::kKernel;
    if (is_kernel && index.links.op[id] == op) ++count;
  }
  return count;
}

}  // namespace

std::optional<bool> KernelRate::is_compute_bound() const {
  if (!of_peak_flops && !of_peak_bandwidth) return std::nullopt;
  return of_peak_flops.value_or(0) >= of_peak_bandwidth.value_or(0);
}

KernelRate kernel_rate(const TraceIndex& index, EventId kernel,
                       const std::optional<GpuPeaks>& peaks) {
  const trace::Trace& trace = index.trace;
  const DecodedName& name = index.names[trace.name[kernel]];
  const EventId op = index.links.op[kernel];
  KernelRate rate;
  rate.ns = static_cast<double>(trace.dur_ns[kernel]);
  rate.flops = recorded_number(trace, kernel, "flops");
  rate.bytes = recorded_number(trace, kernel, "bytes");
  // The work of the operator is that of the kernel.
  const bool is_sole_kernel =
      op != kNoEvent && (kernels_of_op(index, kernel) == 1 || is_glu_kernel(trace, op, kernel));
  if (!rate.flops && is_sole_kernel) {
    const auto gemm = is_gemm(name.kind) ? gemm_shape(trace, op, kernel) : std::nullopt;
    if (gemm) rate.flops = gemm->flops();
    if (name.kind == Kind::kAttention) rate.flops = attention_flops(index, op);
  }
  if (!rate.bytes && is_sole_kernel) {
    const auto moved = op_bytes(trace, op, kernel);
    if (moved && !moved->at_least) rate.bytes = moved->bytes;
  }
  if (!peaks || rate.ns <= 0) return rate;
  NumberType type = name.dtype;
  if (type == NumberType::kUnknown && name.kind == Kind::kAttention) type = NumberType::kBf16;
  if (op != kNoEvent && is_glu_kernel(trace, op, kernel)) type = glu_type(trace, op);
  const double peak_flops = peaks->of(type) * 1000;
  if (rate.flops && peak_flops > 0) rate.of_peak_flops = *rate.flops / rate.ns / peak_flops;
  if (rate.bytes) rate.of_peak_bandwidth = *rate.bytes / rate.ns / (peaks->memory_tb_s * 1000);
  return rate;
}

KernelRate combined_rate(const TraceIndex& index, const std::vector<EventId>& kernels,
                         const std::optional<GpuPeaks>& peaks) {
  // Sums over the calls with a known amount and share.
  struct Sum {
    double amount = 0;
    double share_ns = 0;
    double ns = 0;

    void add(const std::optional<double>& more, const std::optional<double>& share, double took) {
      if (!more || !share) return;
      amount += *more;
      share_ns += *share * took;
      ns += took;
    }
  };
  Sum flops;
  Sum bytes;
  KernelRate all;
  const size_t stride = kernels.size() / kMaxSamples + 1;
  for (size_t i = 0; i < kernels.size(); i += stride) {
    const KernelRate one = kernel_rate(index, kernels[i], peaks);
    all.ns += one.ns;
    flops.add(one.flops, one.of_peak_flops, one.ns);
    bytes.add(one.bytes, one.of_peak_bandwidth, one.ns);
  }
  // Extrapolates to the other calls at the same rate.
  const auto set = [&](const Sum& sum, std::optional<double>& amount,
                       std::optional<double>& share) {
    if (2 * sum.ns <= all.ns) return;
    amount = sum.amount * all.ns / sum.ns;
    share = sum.share_ns / sum.ns;
  };
  set(flops, all.flops, all.of_peak_flops);
  set(bytes, all.bytes, all.of_peak_bandwidth);
  return all;
}

}  // namespace epi::analysis
