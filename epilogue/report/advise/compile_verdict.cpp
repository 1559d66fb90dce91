// SPDX-License-Identifier: Apache-2.0
// The verdict on torch.compile, or on --compile for our own traces, with its reason.
#include <fmt/format.h>

#include "epilogue/report/advise/advise_report.h"
#include "epilogue/report/description/words.h"
#include "epilogue/report/steps/diagnosis_report.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

using analysis::AdviceReport;
using analysis::Reason;

double gpu_ns(const AdviceReport& report) { return static_cast<double>(report.step.gpu_ns); }

// True if the host would take longer than the GPU after compiling.
bool needs_graph(const AdviceReport& report) {
  return !report.cpu_kernels &&
         report.compiled_cpu_ns.low > gpu_ns(report) - report.fusion.saving_ns.likely;
}

// "Fusing would save 30.71 us (12.35 us to 33.63 us) of 234.3 us GPU time per step, 13 %."
std::string gain_text(const AdviceReport& report) {
  const auto& saving = report.fusion.saving_ns;
  const double share = gpu_ns(report) > 0 ? 100 * saving.likely / gpu_ns(report) : 0;
  return fmt::format("Fusing would save {} ({}) of {} {} time{}, {:.0f} %.",
                     time_text(saving.likely), range_text(saving), time_text(gpu_ns(report)),
                     report.cpu_kernels ? "kernel" : "GPU", scope_of(report).per, share);
}

// "The step is host-bound: the GPU is busy 234.3 us of 347.6 us."
std::string host_bound_text(const AdviceReport& report) {
  std::string the = scope_of(report).the;
  if (the.starts_with("the ")) the[0] = 'T';
  // Not the sum of the work, which several devices or streams may run at the same time.
  const analysis::Diagnosis& diagnosis = *report.diagnosis;
  const std::string busy = time_text(static_cast<double>(diagnosis.step.busy_ns));
  const std::string window = time_text(static_cast<double>(diagnosis.step_ns()));
  return report.cpu_kernels
             ? fmt::format("{} is host-bound: kernels run {} of {}.", the, busy, window)
             : fmt::format("{} is host-bound: the GPU is busy {} of {}.", the, busy, window);
}

// "Compiled calls would take 290.0 us to 640.0 us of host time instead of 337.6 us"
std::string compiled_host_text(const AdviceReport& report) {
  return fmt::format("Compiled calls would take {} of host time instead of {}",
                     range_text(report.compiled_cpu_ns),
                     time_text(static_cast<double>(report.step.cpu_ns)));
}

bool is_about_host_time(Reason reason) {
  return reason == Reason::kDispatchGain || reason == Reason::kDispatchUnsure ||
         reason == Reason::kDispatchLoss;
}

std::string reason_text(const AdviceReport& report) {
  const Scope scope = scope_of(report);
  const char* where = report.cpu_kernels ? "" : " on the GPU";
  const bool nothing_to_fuse = report.fusion.kernels_after == report.step.kernels;
  switch (report.reason) {
    case Reason::kNoDevice:
      return report.missing_work.limiter() == analysis::Limiter::kNoDevice
                 ? fmt::format("There is no GPU work in {}.", scope.the)
                 : "The GPU events are not in the trace.";
    case Reason::kCompiled:
      return "This run is already compiled.";
    case Reason::kGraphReplay:
      return "This work is replayed from a CUDA graph: compiling it again changes nothing.";
    case Reason::kCapture:
      return "This is the capture of a CUDA graph, which does not run again.";
    case Reason::kNotConclusive:
      return report.diagnosis->launches_missing
                 ? "Most launches are not in the trace."
                 : fmt::format("For {:.0f} % of {} the GPU waits for something not in the trace.",
                               100 * report.diagnosis->unexplained_share(), scope.the);
    case Reason::kOtherLimit:
      return fmt::format("The limit is {}, {:.0f} % of {}, which compiled code does not shorten.",
                         words_of(report.diagnosis->limiter).phrase,
                         100 * report.diagnosis->share(report.diagnosis->limiter), scope.the);
    case Reason::kUserHostWork:
      return fmt::format(
          "{} But {} of it is not dispatch: operators, or gaps between them, of over 1 ms.",
          host_bound_text(report),
          time_text(static_cast<double>(report.diagnosis->ns(analysis::Limiter::kHostWork))));
    case Reason::kCpuKernels:
      return fmt::format(
          "{} would become {}. The trace does not show how much that saves on a CPU.",
          plural(static_cast<double>(report.step.kernels), "kernel"), report.kernels_compiled);
    case Reason::kNothingToFuse:
      return nothing_to_fuse
                 ? fmt::format("There is nothing to fuse{}.", where)
                 : fmt::format("There is almost nothing to fuse{}. {}", where, gain_text(report));
    case Reason::kCustomGemm:
      return "There is nothing to fuse. Only a run shows whether the compiler's GEMM is faster.";
    case Reason::kSmallGain:
    case Reason::kGain:
      return gain_text(report) + (needs_graph(report)
                                      ? " It needs a CUDA graph: without one the host is the limit."
                                      : "");
    case Reason::kDispatchGain:
    case Reason::kDispatchUnsure:
      return fmt::format("{} {}.", host_bound_text(report), compiled_host_text(report));
    case Reason::kDispatchLoss:
      return fmt::format("{} {}{}.", host_bound_text(report), compiled_host_text(report),
                         nothing_to_fuse ? ", and there is nothing to fuse" : "");
  }
  return "";
}

}  // namespace

std::string verdict_line(const AdviceReport& report) {
  const std::string condition = report.diagnosis ? condition_text(*report.diagnosis) : "";
  return fmt::format("{}{}: {}. {}", condition,
                     report.is_epilogue_trace ? "--compile" : "torch.compile",
                     words_of(report.verdict).phrase, reason_text(report));
}

std::string compiled_text(const AdviceReport& report) {
  const bool irrelevant = report.reason == Reason::kNothingToFuse ||
                          report.reason == Reason::kUserHostWork ||
                          report.reason == Reason::kOtherLimit;
  if (report.compiled_cpu_ns.likely <= 0 || irrelevant) return "";
  const auto after = report.fusion.kernels_after;
  const std::string kernels =
      after == report.step.kernels
          ? "Compiling would not change the number of kernels."
          : fmt::format("{} of {} would remain.", after,
                        plural(static_cast<double>(report.step.kernels), "kernel"));
  const std::string host = is_about_host_time(report.reason)
                               ? "The estimate of host time"
                               : compiled_host_text(report) + ", which";
  return fmt::format(
      "{} {} covers guards, cache look-ups and a call per kernel, under the profiler.", kernels,
      host);
}

}  // namespace epi::report
