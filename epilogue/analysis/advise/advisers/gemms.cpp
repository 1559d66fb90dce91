// SPDX-License-Identifier: Apache-2.0
// GEMMs far below the peak: without tensor cores, with odd sizes, with a partly empty last wave.
#include <algorithm>
#include <cmath>
#include <map>

#include "epilogue/analysis/advise/advisers.h"
#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/cost/op_cost.h"
#include "epilogue/analysis/index/op_inputs.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

// Advice below this share of a step's device time is dropped.
constexpr double kMinShare = 0.01;
// Smaller GEMMs run at the minimum time of a kernel.
constexpr double kMinFlops = 1e8;

// GEMMs of one operator, sizes and kernel.
struct GemmGroup {
  GemmShape sizes;
  DecodedName name;
  KernelRate rate;
  std::string dtype;
  std::vector<EventId> kernels;
  double ns = 0;
};

std::vector<GemmGroup> gemm_groups(const AdviserInput& input) {
  const TraceIndex& index = input.index;
  std::map<std::pair<trace::NameId, std::string>, GemmGroup> groups;
  for (const EventId id : input.work) {
    const DecodedName& name = index.names[index.trace.name[id]];
    const EventId op = index.links.op[id];
    if (op == kNoEvent || !is_gemm(name.kind)) continue;
    const auto sizes = gemm_shape(index.trace, op);
    if (!sizes) continue;
    GemmGroup& group = groups[{index.trace.name[id], size_signature(index.trace, op)}];
    if (group.kernels.empty()) {
      group.sizes = *sizes;
      group.name = name;
      group.rate = kernel_rate(index, id, input.peaks);
      group.dtype = op_inputs(index.trace, op)[1].type;
    }
    group.kernels.push_back(id);
    group.ns += static_cast<double>(index.trace.dur_ns[id]);
  }
  std::vector<GemmGroup> result;
  for (auto& [key, group] : groups) result.push_back(std::move(group));
  return result;
}

Advice about_gemm(AdviceKind kind, const GemmGroup& group) {
  Advice advice;
  advice.kind = kind;
  advice.about = {group.sizes.text()};
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
  advice.removes_ns = {group.ns - min_ns(group, peak, kPoorGemm, peaks),
                       group.ns - min_ns(group, peak, kTypicalGemm, peaks),
                       group.ns - min_ns(group, peak, kGoodGemm, peaks)};
  advice.removes_ns.low = std::max(0.0, advice.removes_ns.low);
}

void advise_tensor_cores(const GemmGroup& group, const GpuPeaks& peaks, AdviceList& list) {
  const bool misses = group.name.dtype == NumberType::kF32 && group.name.tensor_cores != true &&
                      group.dtype == "float";
  if (!misses || peaks.tf32 <= peaks.f32 || group.sizes.flops() < kMinFlops) return;
  Advice one = about_gemm(AdviceKind::kTensorCores, group);
  set_saving(group, peaks.tf32, peaks, one);
  one.terms.push_back({Term::What::kTf32Peak, peaks.tf32});
  if (one.removes_ns.likely > 0) list.push_back(std::move(one));
}

void advise_alignment(const GemmGroup& group, const GpuPeaks& peaks, AdviceList& list) {
  constexpr int64_t kAligned = 8;  // two-byte elements per 16-byte load
  const bool narrow = group.dtype == "c10::BFloat16" || group.dtype == "c10::Half";
  const bool odd = group.sizes.n % kAligned != 0 || group.sizes.k % kAligned != 0;
  if (!narrow || !odd || group.sizes.flops() < kMinFlops) return;
  Advice one = about_gemm(AdviceKind::kAlignment, group);
  set_saving(group, peaks.f16, peaks, one);
  if (group.rate.of_peak_flops) {
    one.terms.push_back({Term::What::kShareOfPeak, *group.rate.of_peak_flops});
  }
  if (one.removes_ns.likely > 0) list.push_back(std::move(one));
}

void advise_waves(const GemmGroup& group, int64_t sms, AdviceList& list) {
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
  one.removes_ns = {0, group.ns * (kFull - best.first), group.ns * (1 - best.first)};
  one.terms.push_back({Term::What::kTiles, best.second});
  one.terms.push_back({Term::What::kMultiprocessors, static_cast<double>(sms)});
  one.terms.push_back({Term::What::kFilled, best.first});
  list.push_back(std::move(one));
}

}  // namespace

AdviceList advise_gemms(const AdviserInput& input) {
  AdviceList list;
  const double all_ns = device_time(input.index.trace, input.work);
  for (const GemmGroup& group : gemm_groups(input)) {
    if (group.ns < kMinShare * all_ns) continue;
    const size_t before = list.size();
    if (input.peaks) advise_tensor_cores(group, *input.peaks, list);
    if (input.peaks) advise_alignment(group, *input.peaks, list);
    if (list.size() == before) advise_waves(group, input.multiprocessors, list);
  }
  return list;
}

}  // namespace epi::analysis
