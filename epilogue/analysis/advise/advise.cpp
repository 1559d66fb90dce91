// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/advise/advise.h"

#include <algorithm>
#include <set>

#include "epilogue/analysis/advise/rank_advice.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/base/error.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

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

int64_t multiprocessors(const trace::Trace& trace) {
  const auto devices = trace::array_items(trace.property("deviceProperties"));
  if (devices.empty()) return 0;
  return trace::parse_integer_token(trace::find_value(devices[0], "numSms").value_or(""))
      .value_or(0);
}

std::vector<int64_t> block_rows(const TraceIndex& index, const StepGroup& subject) {
  constexpr size_t kMaxSteps = 8;
  std::set<int64_t> rows;
  for (size_t i = 0; i < std::min(subject.steps.size(), kMaxSteps); ++i) {
    for (const GatedMlp& mlp : find_blocks(index, subject.steps[i].owned.work).mlps) {
      rows.insert(mlp.rows);
    }
  }
  return {rows.begin(), rows.end()};
}

void decide(const AdviserInput& input, AdviceReport& result) {
  const auto gpu_ns = static_cast<double>(result.step.gpu_ns);
  const double gain = gpu_ns <= 0 ? 0 : result.fusion.saving_ns.likely / gpu_ns;
  const auto set = [&](Verdict verdict, Reason reason) {
    result.verdict = verdict;
    result.reason = reason;
  };
  if (result.step.kernels == 0) return set(Verdict::kNotConclusive, Reason::kNoDevice);
  if (is_compiled(input)) return set(Verdict::kNo, Reason::kCompiled);
  if (result.cpu_kernels && result.kernels_compiled < result.step.kernels) {
    return set(Verdict::kMaybe, Reason::kCpuKernels);
  }
  if (replays_graphs(input)) return set(Verdict::kNo, Reason::kGraphReplay);
  if (result.diagnosis->limiter == Limiter::kCapture) {
    return set(Verdict::kNo, Reason::kCapture);
  }
  if (result.diagnosis->limiter == Limiter::kNotConclusive) {
    return set(Verdict::kNotConclusive, Reason::kNotConclusive);
  }
  const auto after = static_cast<double>(result.fusion.kernels_after);
  const Estimate& call = result.is_epilogue_trace ? kEpilogueCallNs : kCallNs;
  const Estimate& kernel = result.is_epilogue_trace ? kEpilogueKernelNs : kKernelNs;
  result.compiled_cpu_ns = {call.low + after * kernel.low, call.likely + after * kernel.likely,
                            call.high + after * kernel.high};
  if (result.cpu_is_limit()) {
    const auto own_ns = static_cast<double>(result.diagnosis->ns(Limiter::kHostWork));
    const auto cpu_ns = static_cast<double>(result.step.cpu_ns);
    const double dispatch_ns = cpu_ns - own_ns;
    if (own_ns > cpu_ns / 2) return set(Verdict::kNo, Reason::kUserHostWork);
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

StepGroup advice_subject(const StepModels& models, const std::optional<std::string>& under) {
  if (!under) return models.judged();
  StepGroup subject = models.named(*under);
  if (subject.steps.empty()) {
    fail("advise", "--under {}: the trace has no annotation or operator of this name", *under);
  }
  return subject;
}

int64_t kernels_with_gated_mlps(const AdviceReport& report) {
  // The work between an MLP's GEMMs is already fused into one kernel.
  int64_t kernels = report.fusion.kernels_after;
  for (const GatedMlp& mlp : report.blocks.mlps) {
    kernels -= 1 + (mlp.between.empty() ? 0 : 1);
  }
  return kernels;
}

bool AdviceReport::cpu_is_limit() const {
  return diagnosis &&
         (diagnosis->limiter == Limiter::kHost || diagnosis->limiter == Limiter::kHostWork);
}

AdviceReport advise(const StepModels& models, const std::optional<std::string>& under) {
  const TraceIndex& index = models.index();
  const StepGroup subject = advice_subject(models, under);
  AdviceReport result;
  result.subject = subject.is_whole_trace() ? "" : subject.name;
  result.cpu_kernels = trace::has_cpu_kernels(index.trace);
  result.is_epilogue_trace = trace::is_epilogue_trace(index.trace);
  result.instances = std::ssize(subject.steps);
  result.step = subject.steps[subject.shown()];
  result.diagnosis = diagnose(models, subject);
  if (!result.diagnosis) result.missing_work = missing_work(index);
  AdviserInput input{models,
                     index,
                     result.step,
                     result.step.owned.work,
                     host_events(index, result.step.event, result.step.host, subject.of_ops),
                     result.diagnosis,
                     estimate_fusion(index, result.step.owned.work),
                     find_blocks(index, result.step.owned.work),
                     gpu_peaks(device_name(index.trace)),
                     multiprocessors(index.trace),
                     {}};
  result.advice = find_advice(input);
  rank_advice(input, result.cpu_kernels, result.advice);
  // Nobody knows what the device waits for.
  if (result.diagnosis && result.diagnosis->limiter == Limiter::kNotConclusive) {
    std::erase_if(result.advice, [](const Advice& one) { return !is_about_work(one.kind); });
  }
  // Captured work runs elsewhere.
  if (result.diagnosis && result.diagnosis->limiter == Limiter::kCapture) result.advice.clear();
  result.fusion = std::move(input.fusion);
  result.blocks = std::move(input.blocks);
  if (!result.blocks.mlps.empty()) result.block_rows = block_rows(index, subject);
  if (result.cpu_kernels) result.fusion.saving_ns = {};
  // PyTorch's compiler does not merge GEMMs. Ours merges gate and up.
  result.kernels_compiled =
      result.is_epilogue_trace ? kernels_with_gated_mlps(result) : result.fusion.kernels_after;
  decide(input, result);
  return result;
}

}  // namespace epi::analysis
