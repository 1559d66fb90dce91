// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/advice_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/index/op_inputs.h"
#include "epilogue/analysis/time/summary.h"
#include "epilogue/analysis/time/work_groups.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

// Advice below this share of a step's device time is dropped.
constexpr double kMinShare = 0.01;
// The gap before a kernel, which disappears with the kernel.
constexpr double kGapNs = 3000;
// Smaller GEMMs run at the minimum time of a kernel.
constexpr double kMinFlops = 1e8;

int64_t multiprocessors(const trace::Trace& trace) {
  const auto devices = trace::array_items(trace.property("deviceProperties"));
  if (devices.empty()) return 0;
  return trace::parse_integer_token(trace::find_value(devices[0], "numSms").value_or(""))
      .value_or(0);
}

// GEMMs of one operator, sizes and kernel.
struct GemmGroup {
  GemmShape sizes;
  DecodedName name;
  KernelRate rate;
  std::string dtype;
  std::vector<EventId> kernels;
  double ns = 0;
};

std::vector<GemmGroup> gemm_groups(const TraceIndex& index, std::span<const EventId> work,
                                   const std::optional<GpuPeaks>& peaks) {
  std::map<std::pair<trace::NameId, std::string>, GemmGroup> groups;
  for (const EventId id : work) {
    const DecodedName& name = index.names[index.trace.name[id]];
    const EventId op = index.links.op[id];
    if (op == kNoEvent || !is_gemm(name.kind)) continue;
    const auto sizes = gemm_shape(index.trace, op);
    if (!sizes) continue;
    GemmGroup& group = groups[{index.trace.name[id], size_signature(index.trace, op)}];
    if (group.kernels.empty()) {
      group.sizes = *sizes;
      group.name = name;
      group.rate = kernel_rate(index, id, peaks);
      group.dtype = op_inputs(index.trace, op)[1].type;
    }
    group.kernels.push_back(id);
    group.ns += static_cast<double>(index.trace.dur_ns[id]);
  }
  std::vector<GemmGroup> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

std::string sizes_text(const GemmShape& sizes) {
  const std::string plain = fmt::format("{}x{}x{}", sizes.m, sizes.n, sizes.k);
  return sizes.batch == 1 ? plain : fmt::format("{} of {}", sizes.batch, plain);
}

Advice about_gemm(AdviceKind kind, const GemmGroup& group) {
  Advice advice;
  advice.kind = kind;
  advice.about = {sizes_text(group.sizes)};
  advice.events = group.kernels;
  advice.terms = {
      {Term::What::kGemms, static_cast<double>(group.kernels.size())},
      {Term::What::kTakes, group.ns},
      {Term::What::kFlops, group.sizes.flops() * static_cast<double>(group.kernels.size())}};
  return advice;
}

// Time of the GEMMs at a share of a peak, with bytes at four fifths of the bandwidth. No GEMM takes
// less than a few microseconds.
double min_ns(const GemmGroup& group, double tflops, double share, const GpuPeaks& peaks) {
  constexpr double kBandwidthShare = 0.8;
  constexpr double kMinNs = 4000;
  const auto count = static_cast<double>(group.kernels.size());
  const double arithmetic = group.sizes.flops() / (tflops * 1000 * share);
  const double bytes = group.rate.bytes.value_or(0) / (peaks.memory_tb_s * 1000 * kBandwidthShare);
  return count * std::max({arithmetic, bytes, kMinNs});
}

// Observed range of tensor-core GEMMs as a share of their peak, for GEMMs that are not small.
constexpr double kPoorGemm = 0.35;
constexpr double kTypicalGemm = 0.6;
constexpr double kGoodGemm = 0.75;

void set_saving(const GemmGroup& group, double peak, const GpuPeaks& peaks, Advice& advice) {
  advice.saving_ns = {group.ns - min_ns(group, peak, kPoorGemm, peaks),
                      group.ns - min_ns(group, peak, kTypicalGemm, peaks),
                      group.ns - min_ns(group, peak, kGoodGemm, peaks)};
  advice.saving_ns.low = std::max(0.0, advice.saving_ns.low);
}

void advise_tensor_cores(const GemmGroup& group, const GpuPeaks& peaks,
                         std::vector<Advice>& advice) {
  const bool misses = group.name.dtype == NumberType::kF32 && group.name.tensor_cores != true &&
                      group.dtype == "float";
  if (!misses || peaks.tf32 <= peaks.f32 || group.sizes.flops() < kMinFlops) return;
  Advice one = about_gemm(AdviceKind::kTensorCores, group);
  set_saving(group, peaks.tf32, peaks, one);
  one.terms.push_back({Term::What::kTf32Peak, peaks.tf32 * 1000});
  if (one.saving_ns.likely > 0) advice.push_back(std::move(one));
}

void advise_alignment(const GemmGroup& group, const GpuPeaks& peaks, std::vector<Advice>& advice) {
  constexpr int64_t kAligned = 8;  // two-byte elements per 16-byte load
  const bool narrow = group.dtype == "c10::BFloat16" || group.dtype == "c10::Half";
  const bool odd = group.sizes.n % kAligned != 0 || group.sizes.k % kAligned != 0;
  if (!narrow || !odd || group.sizes.flops() < kMinFlops) return;
  Advice one = about_gemm(AdviceKind::kAlignment, group);
  set_saving(group, peaks.f16, peaks, one);
  if (group.rate.of_peak_flops) {
    one.terms.push_back({Term::What::kShareOfPeak, *group.rate.of_peak_flops});
  }
  if (one.saving_ns.likely > 0) advice.push_back(std::move(one));
}

void advise_waves(const GemmGroup& group, int64_t sms, std::vector<Advice>& advice) {
  constexpr double kFull = 0.75;
  const int64_t tm = group.name.tile[0];
  const int64_t tn = group.name.tile[1];
  const auto& sizes = group.sizes;
  const bool known = tm > 0 && tn > 0 && sms > 0 && sizes.m > 0 && sizes.n > 0 && sizes.batch > 0;
  if (!known || group.name.split_k == true || sizes.flops() < kMinFlops) return;
  // It is unknown which side of a tile lies along the rows, so the better one counts.
  const auto filled = [&](int64_t rows, int64_t columns) {
    const double tiles = static_cast<double>(sizes.batch) *
                         std::ceil(static_cast<double>(sizes.m) / static_cast<double>(rows)) *
                         std::ceil(static_cast<double>(sizes.n) / static_cast<double>(columns));
    const double waves = std::ceil(tiles / static_cast<double>(sms));
    return std::pair(tiles / (waves * static_cast<double>(sms)), tiles);
  };
  const auto best = std::max(filled(tm, tn), filled(tn, tm));
  // Less than one wave is a small GEMM. Another tile size does not help.
  if (best.first >= kFull || best.second < static_cast<double>(sms)) return;
  // A GEMM that is bound by reading its weights gains nothing.
  if (group.rate.is_compute_bound() == false) return;
  Advice one = about_gemm(AdviceKind::kWaves, group);
  one.saving_ns = {0, group.ns * (kFull - best.first), group.ns * (1 - best.first)};
  one.terms.push_back({Term::What::kTiles, best.second});
  one.terms.push_back({Term::What::kMultiprocessors, static_cast<double>(sms)});
  one.terms.push_back({Term::What::kFilled, best.first});
  advice.push_back(std::move(one));
}

// An add that becomes part of a GEMM needs no generated kernel.
void remove_single_ops(FusionEstimate& fusion, const std::vector<EventId>& adds) {
  const std::set<EventId> gone(adds.begin(), adds.end());
  std::erase_if(fusion.groups, [&](const FusionGroup& group) {
    const bool all =
        group.ops.size() == 1 && std::all_of(group.work.begin(), group.work.end(),
                                             [&](EventId id) { return gone.contains(id); });
    if (!all) return false;
    fusion.saving_ns.low -= group.saving_ns.low;
    fusion.saving_ns.likely -= group.saving_ns.likely;
    fusion.saving_ns.high -= group.saving_ns.high;
    return true;
  });
}

}  // namespace

void advise_fusion(const FusionEstimate& fusion, std::vector<Advice>& advice) {
  for (const FusionGroup& group : fusion.groups) {
    const bool alone = group.ops.size() == 1;
    Advice one;
    one.kind = alone ? AdviceKind::kRegenerate : AdviceKind::kFuse;
    one.about = group.ops;
    one.saving_ns = group.saving_ns;
    one.confidence = group.sizes_known && !alone ? Confidence::kLikely : Confidence::kGuess;
    one.events = group.work;
    const auto count = static_cast<double>(group.count);
    one.terms = {{Term::What::kPlaces, count},
                 {Term::What::kKernels, static_cast<double>(group.kernels)},
                 {Term::What::kTakes, group.eager_ns}};
    const bool estimated = group.saving_ns.high > 0;
    if (group.sizes_known) {
      one.terms.push_back({Term::What::kMoves, count * group.eager_bytes});
      one.terms.push_back({Term::What::kWouldMove, count * group.fused_bytes});
      if (estimated)
        one.terms.push_back(
            {fusion.rates_measured ? Term::What::kMeasuredRate : Term::What::kDataSheetRate,
             fusion.rates.bytes_per_ns});
    }
    if (estimated) one.terms.push_back({Term::What::kWouldTake, group.fused_ns});
    advice.push_back(std::move(one));
  }
}

void advise_gated_mlps(const TraceIndex& index, const Blocks& blocks, std::vector<Advice>& advice) {
  // Share of the time between the GEMMs that is saved: all of it moves into the epilogue. The range
  // comes from pairs on an H200, where one GEMM of twice the width can also be faster than two. See
  // docs/advise.md.
  constexpr Estimate kSaved = {0.75, 1, 1.6};
  std::map<std::vector<std::string>, Advice> found;
  for (const GatedMlp& mlp : blocks.mlps) {
    const double between_ns = device_time(index.trace, mlp.between);
    const std::vector<std::string> about = {
        mlp.activation, fmt::format("{}x{}x{}", mlp.rows, mlp.dim, mlp.hidden), mlp.dtype};
    Advice& one = found[about];
    if (one.terms.empty()) {
      one.kind = AdviceKind::kGatedMlp;
      one.about = about;
      one.terms = {
          {Term::What::kBlocks, 0}, {Term::What::kTakes, 0}, {Term::What::kBetweenGemms, 0}};
    }
    one.terms[0].value += 1;
    one.terms[1].value += mlp.device_ns;
    one.terms[2].value += between_ns;
    one.saving_ns.low += kSaved.low * between_ns;
    one.saving_ns.likely += kSaved.likely * between_ns;
    one.saving_ns.high += kSaved.high * between_ns;
    one.events.insert(one.events.end(), mlp.work.begin(), mlp.work.end());
  }
  for (auto& [key, one] : found) advice.push_back(std::move(one));
}

void advise_addmm(const TraceIndex& index, std::span<const EventId> work, FusionEstimate& fusion,
                  std::vector<Advice>& advice) {
  std::set<EventId> fused;
  for (const FusionGroup& group : fusion.groups) {
    if (group.ops.size() > 1) fused.insert(group.work.begin(), group.work.end());
  }
  const std::vector<FlowNode> nodes = tensor_flow(index, work);
  // Remaining share of the add's time on an H200. docs/advise.md has the pairs. With a bias, the
  // GEMM takes longer.
  constexpr double kBiasAfter = 0.27;
  constexpr double kMatrixAfter = 0.93;
  constexpr double kMatrixAfterMin = 0.65;
  std::map<std::string, Advice> found;
  for (const FlowNode& node : nodes) {
    const bool adds = node.op != kNoEvent && node.kind == Kind::kPointwise &&
                      (index.trace.name_of(node.op) == "aten::add" ||
                       index.trace.name_of(node.op) == "aten::add_");
    if (!adds || node.work.size() != 1 || fused.contains(node.work.front())) continue;
    for (const FlowRead& read : node.reads) {
      if (read.maker == kNoNode) continue;
      const FlowNode& maker = nodes[read.maker];
      const bool alone = maker.readers.size() == 1 && maker.op != kNoEvent;
      if (!alone || index.trace.name_of(maker.op) != "aten::mm" || maker.phase != node.phase) {
        continue;
      }
      const auto sizes = gemm_shape(index.trace, maker.op);
      if (!sizes) continue;
      // The GEMM still reads the addend, which is negligible for a bias.
      double addend = 0;
      for (const FlowRead& other : node.reads) {
        if (&other != &read) addend += other.size.bytes();
      }
      const double rate = fusion.rates.bytes_per_ns;
      const auto now = static_cast<double>(node.device_ns);
      // A matrix is copied into the result before the GEMM accumulates into it, which takes about
      // as long as the add. Only a bias moves into the epilogue.
      const double full = static_cast<double>(sizes->m) * static_cast<double>(sizes->n) *
                          static_cast<double>(node.result.element_bytes);
      const bool is_bias = addend < full / 2;
      const double reads = rate > 0 ? addend / rate : 0;
      const double after = std::min(now, is_bias ? kBiasAfter * now + reads : kMatrixAfter * now);
      const std::string about = sizes_text(*sizes);
      Advice& one = found[about];
      one.kind = AdviceKind::kAddmm;
      one.confidence = Confidence::kLikely;
      one.about = {about};
      if (one.terms.empty()) {
        one.terms = {
            {Term::What::kPlaces, 0}, {Term::What::kTakes, 0}, {Term::What::kWouldTake, 0}};
      }
      one.terms[0].value += 1;
      one.terms[1].value += now;
      one.terms[2].value += after;
      one.saving_ns.low += is_bias ? now / 2 : 0;
      one.saving_ns.likely += now - after;
      one.saving_ns.high += is_bias ? now + kGapNs : (1 - kMatrixAfterMin) * now;
      one.events.push_back(node.work.front());
      break;
    }
  }
  for (auto& [about, one] : found) {
    remove_single_ops(fusion, one.events);
    // A compiler does this, too.
    fusion.kernels_after -= static_cast<int64_t>(one.events.size());
    fusion.saving_ns.low += one.saving_ns.low;
    fusion.saving_ns.likely += one.saving_ns.likely;
    fusion.saving_ns.high += one.saving_ns.high;
    advice.push_back(std::move(one));
  }
}

void advise_attention(const TraceIndex& index, std::span<const EventId> work,
                      std::vector<Advice>& advice) {
  // Shares of the peak that fused kernels reach, with bytes at four fifths of the bandwidth.
  constexpr double kPoor = 0.15;
  constexpr double kTypical = 0.4;
  constexpr double kGood = 0.7;
  constexpr double kBandwidthShare = 0.8;
  const auto peaks = gpu_peaks(device_name(index.trace));
  std::map<std::string, Advice> found;
  for (const auto& one_place : unfused_attention(index, work)) {
    const auto scores = gemm_shape(index.trace, index.links.op[one_place.front()]);
    const auto values = gemm_shape(index.trace, index.links.op[one_place.back()]);
    if (!scores || !values) continue;
    const double now = device_time(index.trace, one_place);
    const auto count = [](int64_t a, int64_t b) {
      return static_cast<double>(a) * static_cast<double>(b);
    };
    const std::vector<OpInput> inputs = op_inputs(index.trace, index.links.op[one_place.front()]);
    const double element = inputs.empty() ? 2 : static_cast<double>(inputs[0].element_bytes);
    // Queries, keys and values are read and the result is written. Scores stay on chip.
    const double bytes = element * static_cast<double>(scores->batch) *
                         (count(scores->m, scores->k) + count(scores->n, scores->k) +
                          count(values->k, values->n) + count(values->m, values->n));
    const double flops = scores->flops() + values->flops();
    const auto fused_ns = [&](double share) {
      if (!peaks) return now / 2;
      return std::min(now, std::max(flops / (peaks->f16 * 1000 * share),
                                    bytes / (peaks->memory_tb_s * 1000 * kBandwidthShare)));
    };
    const std::string about = fmt::format("{} of {}x{}", scores->batch, scores->m, scores->n);
    Advice& one = found[about];
    one.kind = AdviceKind::kAttention;
    one.about = {about};
    if (one.terms.empty()) {
      one.terms = {{Term::What::kPlaces, 0}, {Term::What::kTakes, 0}, {Term::What::kWouldTake, 0}};
    }
    one.terms[0].value += 1;
    one.terms[1].value += now;
    one.terms[2].value += fused_ns(kTypical);
    one.saving_ns.low += now - fused_ns(kPoor);
    one.saving_ns.likely += now - fused_ns(kTypical);
    one.saving_ns.high += now - fused_ns(kGood);
    one.events.insert(one.events.end(), one_place.begin(), one_place.end());
  }
  for (auto& [about, one] : found) advice.push_back(std::move(one));
}

void advise_gemms(const TraceIndex& index, std::span<const EventId> work,
                  std::vector<Advice>& advice) {
  const auto peaks = gpu_peaks(device_name(index.trace));
  const int64_t sms = multiprocessors(index.trace);
  const double all_ns = device_time(index.trace, work);
  for (const GemmGroup& group : gemm_groups(index, work, peaks)) {
    if (group.ns < kMinShare * all_ns) continue;
    const size_t before = advice.size();
    if (peaks) advise_tensor_cores(group, *peaks, advice);
    if (peaks) advise_alignment(group, *peaks, advice);
    if (advice.size() == before) advise_waves(group, sms, advice);
  }
}

void advise_copies(const TraceIndex& index, std::span<const EventId> work,
                   const FusionEstimate& fusion, std::vector<Advice>& advice) {
  std::set<EventId> fused;
  for (const FusionGroup& group : fusion.groups) {
    if (group.ops.size() > 1) fused.insert(group.work.begin(), group.work.end());
  }
  Advice one;
  one.kind = AdviceKind::kCopies;
  double ns = 0;
  for (const EventId id : work) {
    const EventId op = index.links.op[id];
    const bool copies = index.names[index.trace.name[id]].kind == Kind::kCopy;
    if (!copies || op == kNoEvent || fused.contains(id)) continue;
    const std::vector<OpInput> inputs = op_inputs(index.trace, op);
    const bool same_type = inputs.size() > 1 && inputs[0].is_tensor() &&
                           inputs[0].type == inputs[1].type && inputs[1].is_tensor();
    if (!same_type || inputs[0].strides == inputs[1].strides) continue;
    one.events.push_back(id);
    ns += static_cast<double>(index.trace.dur_ns[id]);
  }
  if (one.events.empty() || ns < kMinShare * device_time(index.trace, work)) return;
  // Applies if a GEMM reads the result, because GEMMs accept any strides. docs/advise.md has the
  // pairs.
  one.saving_ns = {0.5 * ns, 0.9 * ns, ns + kGapNs * static_cast<double>(one.events.size())};
  one.terms = {{Term::What::kCopies, static_cast<double>(one.events.size())},
               {Term::What::kTakes, ns}};
  advice.push_back(std::move(one));
}

}  // namespace epi::analysis
