// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/advise.h"

#include <algorithm>
#include <set>

#include "epilogue/analysis/advise/advice_device.h"
#include "epilogue/analysis/advise/advice_host.h"
#include "epilogue/analysis/advise/what_if.h"
#include "epilogue/base/error.h"
#include "epilogue/trace/event_args.h"

namespace epi::analysis {
namespace {

using trace::EventId;

// Shares of a step's device time that fusing must save.
constexpr double kLikelyGain = 0.08;
constexpr double kSomeGain = 0.02;
// What compiled code takes on the CPU under a profiler: once a call, and for each kernel. From the
// pairs of traces in docs/advise.md; hosts differ by as much.
constexpr Estimate kCallNs = {150e3, 220e3, 300e3};
constexpr Estimate kKernelNs = {35e3, 55e3, 85e3};

Subject subject_of(const TraceIndex& index, const std::optional<std::string>& under) {
  if (!under) return step_subject(index);
  Subject subject = named_subject(index, *under);
  if (subject.group.instances.empty()) {
    fail("advise", "--under {}: no annotation and no operator is called so", *under);
  }
  return subject;
}

// Empty where no steps are marked: it is the whole trace.
std::string name_of(const Subject& subject) {
  const auto& instances = subject.group.instances;
  const bool whole = instances.size() == 1 && instances[0].event == trace::kNoEvent;
  return whole ? "" : subject.group.name;
}

std::string shown_name(const std::string& name) { return name.empty() ? "no steps" : name; }

void leave_out_savings(FusionEstimate& fusion) {
  fusion.saving_ns = {};
  for (FusionGroup& group : fusion.groups) group.saving_ns = {};
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

void decide(const HostView& view, Advised& result) {
  const double gain = result.device_ns <= 0 ? 0 : result.fusion.saving_ns.likely / result.device_ns;
  const auto set = [&](Verdict verdict, Because because) {
    result.verdict = verdict;
    result.because = because;
  };
  if (result.kernels == 0) return set(Verdict::kNo, Because::kNoDevice);
  if (is_compiled(view)) return set(Verdict::kNo, Because::kCompiled);
  if (result.cpu_kernels && !result.fusion.groups.empty()) {
    return set(Verdict::kMaybe, Because::kCpuKernels);
  }
  if (replays_graphs(view)) return set(Verdict::kNo, Because::kGraphReplay);
  if (result.diagnosis->limiter == Limiter::kCapture) {
    return set(Verdict::kNo, Because::kCapture);
  }
  if (result.diagnosis->limiter == Limiter::kNotConclusive) {
    return set(Verdict::kMaybe, Because::kNotConclusive);
  }
  const auto after = static_cast<double>(result.fusion.kernels_after);
  result.compiled_cpu_ns = {kCallNs.low + after * kKernelNs.low,
                            kCallNs.likely + after * kKernelNs.likely,
                            kCallNs.high + after * kKernelNs.high};
  if (result.cpu_is_limit()) {
    const auto own_ns = static_cast<double>(result.diagnosis->own_host_ns()) /
                        static_cast<double>(result.diagnosis->judged);
    const double dispatch_ns = result.cpu_ns - own_ns;
    if (own_ns > result.cpu_ns / 2) return set(Verdict::kNo, Because::kOwnHostWork);
    if (result.compiled_cpu_ns.high < dispatch_ns) {
      return set(Verdict::kLikely, Because::kDispatchGain);
    }
    if (result.compiled_cpu_ns.low < dispatch_ns) {
      return set(Verdict::kMaybe, Because::kDispatchUnsure);
    }
    return set(Verdict::kNo, Because::kDispatchLoss);
  }
  // Compiled code shortens what the GPU and the host's dispatch take, and nothing else.
  const bool other =
      result.diagnosis->limiter != Limiter::kGpu && result.diagnosis->limiter != Limiter::kMixed;
  if (other) return set(Verdict::kNo, Because::kOtherLimit);
  // A range that is wider than the estimate is not likely anything.
  const Estimate& saving = result.fusion.saving_ns;
  const bool sure = saving.low > 0 && saving.high <= 2 * saving.likely;
  if (gain >= kLikelyGain && sure) return set(Verdict::kLikely, Because::kGain);
  if (gain >= kSomeGain) return set(Verdict::kMaybe, Because::kSmallGain);
  set(Verdict::kNo, Because::kNothingToFuse);
}

}  // namespace

bool Advised::cpu_is_limit() const { return diagnosis && diagnosis->limiter == Limiter::kHost; }

Advised advise(const TraceIndex& index, const std::optional<std::string>& under) {
  const Subject subject = subject_of(index, under);
  Advised result;
  result.subject = name_of(subject);
  result.cpu_kernels = trace::has_cpu_kernels(index.trace);
  result.instances = static_cast<int64_t>(subject.group.instances.size());
  if (subject.group.instances.empty()) return result;
  const size_t place = typical_instance(subject.group);
  const Instance& instance = subject.group.instances[place];
  const Owned& owned = subject.owned[place];
  const MedianMeasures median = median_measures(subject.group);
  result.device_ns = median.device_ns;
  result.cpu_ns = median.cpu_ns;
  result.kernels = instance.measures.kernels;
  result.window_ns = static_cast<double>(instance.measures.window_ns);
  const HostView view{index, instance, owned, host_events(index, subject, place)};
  if (!owned.work.empty()) {
    result.diagnosis = diagnose(index, subject);
    result.fusion = estimate_fusion(index, owned.work);
    result.blocks = find_blocks(index, owned.work);
    if (!result.blocks.mlps.empty()) result.block_rows = block_rows(index, subject);
    // How fast generated code is on a CPU depends on its arithmetic, which a trace does not show.
    if (result.cpu_kernels) leave_out_savings(result.fusion);
    advise_addmm(index, owned.work, result.fusion, result.advice);
    advise_fusion(result.fusion, result.advice);
    advise_attention(index, owned.work, result.advice);
    advise_gated_mlps(index, result.blocks, result.advice);
    advise_products(index, owned.work, result.advice);
    advise_copies(index, owned.work, result.fusion, result.advice);
    // Kernels of the CPU are called, not launched.
    if (!result.cpu_kernels) advise_launches(view, *result.diagnosis, result.advice);
    advise_waits(view, result.advice);
  }
  advise_compiled(view, result.advice);
  advise_compiling(index, result.advice);
  if (result.diagnosis) {
    advise_input(view, *result.diagnosis, result.advice);
    advise_runtime(*result.diagnosis, result.advice);
    time_again(index, *result.diagnosis, owned, result.advice);
    // What is captured runs elsewhere.
    if (result.diagnosis->limiter == Limiter::kCapture) result.advice.clear();
  }
  decide(view, result);
  return result;
}

AdviceCheck check_advice(const Advised& before, const TraceIndex& after,
                         const std::optional<std::string>& under) {
  const Subject subject = subject_of(after, under);
  const MedianMeasures median = median_measures(subject.group);
  if (before.kernels == 0 || median.kernels == 0) {
    fail("advise", "--against: the run {} has no device work",
         before.kernels == 0 ? "before" : "after");
  }
  if (before.subject != name_of(subject)) {
    fail("advise", "--against: the run before has {}, the run after {}: --under names one of both",
         shown_name(before.subject), shown_name(name_of(subject)));
  }
  std::vector<Advice> ignored;
  AdviceCheck check;
  check.compile_ns = advise_compiling(after, ignored);
  check.device_ns = before.device_ns;
  check.after_device_ns = median.device_ns;
  check.saving_ns = before.fusion.saving_ns;
  check.actual_ns = before.device_ns - median.device_ns;
  check.kernels = before.kernels;
  check.kernels_predicted = before.fusion.kernels_after;
  check.kernels_after = static_cast<int64_t>(median.kernels);
  return check;
}

}  // namespace epi::analysis
