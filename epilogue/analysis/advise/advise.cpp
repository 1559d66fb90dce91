// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/advise.h"

#include <algorithm>
#include <map>
#include <set>

#include "epilogue/analysis/advise/advice_device.h"
#include "epilogue/analysis/advise/advice_host.h"
#include "epilogue/analysis/advise/what_if.h"
#include "epilogue/analysis/index/statistics.h"
#include "epilogue/base/error.h"
#include "epilogue/trace/event_args.h"

namespace epi::analysis {
namespace {

using trace::EventId;

// Shares of a step's device time that fusion must save.
constexpr double kLikelyGain = 0.08;
constexpr double kSomeGain = 0.02;
// CPU time of compiled code under a profiler, per call and per kernel. From the pairs of traces in
// docs/advise.md. Hosts differ by as much as this range.
constexpr Estimate kCallNs = {150e3, 220e3, 300e3};
constexpr Estimate kKernelNs = {35e3, 55e3, 85e3};
// The same for Epilogue's compiler. `epilogue tour` stays within this range on an H200 and on one
// x86-64 CPU.
constexpr Estimate kEpilogueCallNs = {0.5e3, 3e3, 10e3};
constexpr Estimate kEpilogueKernelNs = {1e3, 5e3, 15e3};

Subject subject_of(const TraceIndex& index, const std::optional<std::string>& under) {
  if (!under) return step_subject(index);
  Subject subject = named_subject(index, *under);
  if (subject.group.instances.empty()) {
    fail("advise", "--under {}: the trace has no annotation or operator of this name", *under);
  }
  return subject;
}

// Empty if the trace marks no steps: the subject is the whole trace.
std::string name_of(const Subject& subject) {
  return subject.group.is_whole_trace() ? "" : subject.group.name;
}

std::string name_or_none(const std::string& name) { return name.empty() ? "no steps" : name; }

void clear_savings(FusionEstimate& fusion) {
  fusion.saving_ns = {};
  for (FusionGroup& group : fusion.groups) group.saving_ns = {};
}

// Removes the estimates, which apply to GPUs only.
void clear_estimates(AdviceReport& result) {
  clear_savings(result.fusion);
  for (Advice& advice : result.advice) {
    advice.saving_ns = {};
    std::erase_if(advice.terms,
                  [](const Term& term) { return term.what == Term::What::kWouldTake; });
  }
}

std::vector<int64_t> block_rows(const TraceIndex& index, const Subject& subject) {
  constexpr size_t kMaxSteps = 8;
  std::set<int64_t> rows;
  for (size_t i = 0; i < std::min(subject.owned.size(), kMaxSteps); ++i) {
    for (const GatedMlp& mlp : find_blocks(index, subject.owned[i].work).mlps) {
      rows.insert(mlp.rows);
    }
  }
  return {rows.begin(), rows.end()};
}

// Gate and up become one kernel, with the work between the GEMMs in its epilogue.
int64_t kernels_with_gated_mlps(const AdviceReport& report) {
  // The work between an MLP's GEMMs is already fused into one kernel.
  int64_t kernels = report.fusion.kernels_after;
  for (const GatedMlp& mlp : report.blocks.mlps) {
    kernels -= 1 + (mlp.between.empty() ? 0 : 1);
  }
  return kernels;
}

void decide(const HostView& view, AdviceReport& result) {
  const double gain = result.device_ns <= 0 ? 0 : result.fusion.saving_ns.likely / result.device_ns;
  const auto set = [&](Verdict verdict, Reason reason) {
    result.verdict = verdict;
    result.reason = reason;
  };
  if (result.kernels == 0) return set(Verdict::kMaybe, Reason::kNoDevice);
  if (is_compiled(view)) return set(Verdict::kNo, Reason::kCompiled);
  if (result.cpu_kernels && result.fusion.kernels_after < result.kernels) {
    return set(Verdict::kMaybe, Reason::kCpuKernels);
  }
  if (replays_graphs(view)) return set(Verdict::kNo, Reason::kGraphReplay);
  if (result.diagnosis->limiter == Limiter::kCapture) {
    return set(Verdict::kNo, Reason::kCapture);
  }
  if (result.diagnosis->limiter == Limiter::kNotConclusive) {
    return set(Verdict::kMaybe, Reason::kNotConclusive);
  }
  const auto after = static_cast<double>(result.fusion.kernels_after);
  const Estimate& call = result.is_epilogue_trace ? kEpilogueCallNs : kCallNs;
  const Estimate& kernel = result.is_epilogue_trace ? kEpilogueKernelNs : kKernelNs;
  result.compiled_cpu_ns = {call.low + after * kernel.low, call.likely + after * kernel.likely,
                            call.high + after * kernel.high};
  if (result.cpu_is_limit()) {
    const auto own_ns = static_cast<double>(result.diagnosis->program_host_ns()) /
                        static_cast<double>(result.diagnosis->judged);
    const double dispatch_ns = result.cpu_ns - own_ns;
    if (own_ns > result.cpu_ns / 2) return set(Verdict::kNo, Reason::kUserHostWork);
    if (result.compiled_cpu_ns.high < dispatch_ns) {
      return set(Verdict::kLikely, Reason::kDispatchGain);
    }
    if (result.compiled_cpu_ns.low < dispatch_ns) {
      return set(Verdict::kMaybe, Reason::kDispatchUnsure);
    }
    return set(Verdict::kNo, Reason::kDispatchLoss);
  }
  // Compiled code shortens only GPU work and host dispatch.
  const bool other =
      result.diagnosis->limiter != Limiter::kGpu && result.diagnosis->limiter != Limiter::kMixed;
  if (other) return set(Verdict::kNo, Reason::kOtherLimit);
  // An estimate whose range is wider than itself is not likely.
  const Estimate& saving = result.fusion.saving_ns;
  const bool sure = saving.low > 0 && saving.high <= 2 * saving.likely;
  if (gain >= kLikelyGain && sure) return set(Verdict::kLikely, Reason::kGain);
  if (gain >= kSomeGain) return set(Verdict::kMaybe, Reason::kSmallGain);
  const bool has_gemm = !result.blocks.linears.empty() || !result.blocks.mlps.empty();
  if (result.is_epilogue_trace && has_gemm) return set(Verdict::kMaybe, Reason::kCustomGemm);
  set(Verdict::kNo, Reason::kNothingToFuse);
}

}  // namespace

bool AdviceReport::cpu_is_limit() const {
  return diagnosis && diagnosis->limiter == Limiter::kHost;
}

AdviceReport advise(const TraceIndex& index, const std::optional<std::string>& under) {
  const Subject subject = subject_of(index, under);
  AdviceReport result;
  result.subject = name_of(subject);
  result.cpu_kernels = trace::has_cpu_kernels(index.trace);
  result.is_epilogue_trace = trace::is_epilogue_trace(index.trace);
  result.instances = static_cast<int64_t>(subject.group.instances.size());
  if (subject.group.instances.empty()) return result;
  const size_t place = typical_instance(subject.group);
  const Instance& instance = subject.group.instances[place];
  const Owned& owned = subject.owned[place];
  const MedianMeasures median = median_measures(subject.group);
  result.device_ns = median.device_ns;
  result.cpu_ns = median.cpu_ns;
  result.kernels = instance.measures.kernels;
  const HostView view{index, instance, owned, host_events(index, subject, place)};
  if (!owned.work.empty()) {
    result.diagnosis = diagnose(index, subject);
    result.fusion = estimate_fusion(index, owned.work);
    result.blocks = find_blocks(index, owned.work);
    if (!result.blocks.mlps.empty()) result.block_rows = block_rows(index, subject);
    // The speed of other code on a CPU depends on its arithmetic, which a trace does not show.
    if (result.cpu_kernels) clear_savings(result.fusion);
    advise_addmm(index, owned.work, result.fusion, result.advice);
    advise_fusion(result.fusion, result.advice);
    advise_attention(index, owned.work, result.advice);
    advise_gated_mlps(index, result.blocks, result.advice);
    if (result.cpu_kernels) clear_estimates(result);
    advise_gemms(index, owned.work, result.advice);
    advise_copies(index, owned.work, result.fusion, result.advice);
    // CPU kernels are called, not launched.
    if (!result.cpu_kernels) advise_launches(view, *result.diagnosis, result.advice);
    advise_waits(view, result.advice);
  }
  advise_compiled(view, result.advice);
  advise_compiling(index, result.advice);
  if (result.diagnosis) {
    advise_input(view, *result.diagnosis, result.advice);
    advise_runtime(*result.diagnosis, result.advice);
    time_advice(index, *result.diagnosis, owned, result.advice);
    // Captured work runs elsewhere.
    if (result.diagnosis->limiter == Limiter::kCapture) result.advice.clear();
  }
  // PyTorch's compiler does not merge GEMMs. Ours merges gate and up.
  result.kernels_compiled =
      result.is_epilogue_trace ? kernels_with_gated_mlps(result) : result.fusion.kernels_after;
  decide(view, result);
  return result;
}

namespace {

// Time per instance of the kernels of each name: the median over instances, in nanoseconds.
std::map<std::string_view, double> times_by_name(const TraceIndex& index, const Subject& subject) {
  std::map<std::string_view, std::vector<double>> all;
  for (size_t i = 0; i < subject.owned.size(); ++i) {
    std::map<std::string_view, double> here;
    for (const EventId id : subject.owned[i].work) {
      here[index.trace.name_of(id)] += static_cast<double>(index.trace.dur_ns[id]);
    }
    for (const auto& [name, ns] : here) all[name].push_back(ns);
  }
  std::map<std::string_view, double> times;
  for (auto& [name, list] : all) times[name] = median(std::move(list));
  return times;
}

double unchanged_ns(const TraceIndex& before, const Subject& old_subject, const TraceIndex& after,
                    const Subject& new_subject) {
  const auto old_times = times_by_name(before, old_subject);
  double shorter_ns = 0;
  for (const auto& [name, ns] : times_by_name(after, new_subject)) {
    const auto found = old_times.find(name);
    if (found != old_times.end()) shorter_ns += found->second - ns;
  }
  return shorter_ns;
}

int64_t gemm_count(const TraceIndex& index, const Subject& subject) {
  int64_t count = 0;
  for (const EventId id : subject.owned[typical_instance(subject.group)].work) {
    count += is_gemm(index.names[index.trace.name[id]].kind) ? 1 : 0;
  }
  return count;
}

Estimate gated_mlp_saving(const AdviceReport& report) {
  Estimate saving;
  for (const Advice& advice : report.advice) {
    if (advice.kind != AdviceKind::kGatedMlp) continue;
    saving.low += advice.saving_ns.low;
    saving.likely += advice.saving_ns.likely;
    saving.high += advice.saving_ns.high;
  }
  return saving;
}

}  // namespace

AdviceCheck check_advice(const TraceIndex& before, const TraceIndex& after,
                         const std::optional<std::string>& under) {
  const AdviceReport report = advise(before, under);
  const Subject subject = subject_of(after, under);
  const MedianMeasures median = median_measures(subject.group);
  if (report.kernels == 0 || median.kernels == 0) {
    fail("advise", "--against: the {} run has no device work",
         report.kernels == 0 ? "first" : "second");
  }
  if (report.subject != name_of(subject)) {
    fail("advise",
         "--against: the first run has {}, the second {}; select a common one with --under",
         name_or_none(report.subject), name_or_none(name_of(subject)));
  }
  std::vector<Advice> ignored;
  AdviceCheck check;
  check.cpu_kernels = report.cpu_kernels;
  check.compile_ns = advise_compiling(after, ignored);
  check.device_ns = report.device_ns;
  check.after_device_ns = median.device_ns;
  check.saving_ns = report.fusion.saving_ns;
  check.actual_ns = report.device_ns - median.device_ns;
  check.unchanged_ns = unchanged_ns(before, subject_of(before, under), after, subject);
  check.kernels = report.kernels;
  check.kernels_predicted = report.fusion.kernels_after;
  check.kernels_after = static_cast<int64_t>(median.kernels);
  // Fewer GEMMs: gate and up are merged.
  const bool joined = gemm_count(after, subject) < gemm_count(before, subject_of(before, under));
  if (joined && !report.blocks.mlps.empty()) {
    check.change = Change::kGatedMlp;
    check.kernels_predicted = kernels_with_gated_mlps(report);
    check.saving_ns = gated_mlp_saving(report);
  }
  return check;
}

}  // namespace epi::analysis
