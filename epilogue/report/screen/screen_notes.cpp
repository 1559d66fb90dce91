// SPDX-License-Identifier: Apache-2.0
// Sentences of the first screen and of the report page: what the verdict rests on, and how far to
// trust it.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/time/step_graph.h"
#include "epilogue/report/screen/screen_parts.h"
#include "epilogue/report/steps/diagnosis_report.h"
#include "epilogue/report/text/text.h"

namespace epi::report {

using analysis::Diagnosis;
using analysis::Limiter;

std::string shown_steps_text(const Overview& data) {
  const analysis::StepGroup& steps = *data.summary.steps;
  if (steps.is_whole_trace()) return "no steps marked";
  const std::string count = plural(static_cast<double>(steps.steps.size()), "step");
  const auto& diagnosis = data.advised.diagnosis;
  if (!diagnosis || steps.steps.size() == 1) return count;
  if (diagnosis->whole_trace()) return count + ", whole trace shown";
  const std::string_view name = diagnosis->step.name;
  const size_t number = name.rfind('#');
  return fmt::format("{}, {} shown (median)", count,
                     number == std::string_view::npos ? "one" : name.substr(number));
}

std::vector<std::string> path_lines(const Overview& data, size_t width) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  constexpr std::string_view kPath = "critical path: ";
  std::vector<std::string> lines{std::string(kPath)};
  if (diagnosis.launches_missing) {
    lines[0] += "unknown, launches are missing";
    return lines;
  }
  lines[0] += short_path_text(diagnosis, width - kPath.size());
  // GPU work that overlaps with the host's is not on the path, although the bar has it.
  constexpr double kMuchHidden = 0.2;
  const double hidden = static_cast<double>(diagnosis.step.busy_ns - diagnosis.ns(Limiter::kGpu)) /
                        static_cast<double>(std::max<int64_t>(1, diagnosis.step_ns()));
  if (hidden > kMuchHidden) {
    lines.emplace_back("(GPU work that overlaps with host work is not on the critical path)");
  }
  return lines;
}

std::vector<std::string> verdict_notes(const Overview& data, const trace::Trace& trace) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  std::vector<std::string> lines;
  const double busy = diagnosis.step.busy_share();
  if (const std::string differing = differing_text(diagnosis); !differing.empty()) {
    lines.push_back(differing);
  }
  constexpr double kMuch = 0.2;
  const bool is_host = diagnosis.limiter == Limiter::kHost || diagnosis.limiter == Limiter::kMixed;
  if (is_host && !data.summary.cpu_kernels) {
    lines.push_back(
        busy < kMuch || diagnosis.limiter == Limiter::kMixed
            ? "The profiler slows the host: host times are upper bounds."
            : fmt::format(
                  "The profiler slows the host. Time {} without it first: if it takes about {}, "
                  "it is GPU-bound and only GPU savings count.",
                  diagnosis.whole_trace() ? "the run" : "a step", time_of(diagnosis.step.busy_ns)));
  }
  if (diagnosis.limiter == Limiter::kHost &&
      2 * diagnosis.program_host_ns() > diagnosis.ns(Limiter::kHost)) {
    lines.push_back(
        fmt::format("{} of the host time is not dispatch: operators or gaps of over 1 ms",
                    time_of(diagnosis.program_host_ns())));
  }
  if (diagnosis.limiter == Limiter::kInput && data.loading.fetches > 0) {
    const auto& loading = data.loading;
    const bool alone = loading.loader.find("SingleProcess") != std::string::npos;
    std::string text =
        fmt::format("{}{} of {}", alone ? "The DataLoader has no workers: " : "DataLoader: ",
                    plural(static_cast<double>(loading.fetches), "fetch", "es"),
                    time_of(loading.ns / loading.fetches));
    if (!loading.function.empty()) {
      text += fmt::format(
          ", {:.0f} % in {}",
          100 * static_cast<double>(loading.function_ns) / static_cast<double>(loading.ns),
          loading.function);
    }
    lines.push_back(text);
  }
  if (diagnosis.limiter == Limiter::kNotConclusive) {
    const analysis::PathPart* longest = nullptr;
    for (const auto& part : diagnosis.path) {
      const bool longer =
          longest == nullptr || part.end_ns - part.begin_ns > longest->end_ns - longest->begin_ns;
      if (part.bound == analysis::Bound::kNotInTrace && longer) longest = &part;
    }
    if (longest != nullptr && longest->event != trace::kNoEvent) {
      lines.push_back(fmt::format("Longest wait: {} before {}",
                                  time_of(longest->end_ns - longest->begin_ns),
                                  shortened(std::string(trace.name_of(longest->event)), 40)));
    }
  }
  return lines;
}

std::string mfu_text(const Overview& data) {
  const auto share = data.mfu();
  if (!share || !data.groups.most_flops_known) return "";
  return fmt::format("MFU {}{:.2g} %: {} in {}",
                     data.groups.all_flops_known ? "" : ">= ", 100 * *share,
                     flops_text(data.groups.flops), time_of(data.advised.diagnosis->step_ns()));
}

namespace {

// "steps take 99.55 ms to 110.9 ms", if they differ enough to matter.
std::string step_range_text(const analysis::StepGroup& steps) {
  if (steps.steps.size() < 2) return "";
  int64_t least = INT64_MAX;
  int64_t most = 0;
  for (const auto& step : steps.steps) {
    least = std::min(least, step.step_ns);
    most = std::max(most, step.step_ns);
  }
  constexpr double kWorthRatio = 1.1;
  if (static_cast<double>(most) < kWorthRatio * static_cast<double>(least)) return "";
  return fmt::format("steps take {} to {}", time_of(least), time_of(most));
}

}  // namespace

std::vector<std::string> quality_notes(const Overview& data, bool has_estimates) {
  std::vector<std::string> parts;
  const auto& summary = data.summary;
  const auto& diagnosis = data.advised.diagnosis;
  const auto count = [](int64_t number, const char* one) {
    return plural(static_cast<double>(number), one);
  };
  if (diagnosis && diagnosis->clipped_ns > 0) {
    parts.push_back(
        fmt::format("clipped start, the first {} not analyzed", time_of(diagnosis->clipped_ns)));
  }
  if (diagnosis && diagnosis->limiter != Limiter::kGpu && data.has_stacks) {
    parts.emplace_back("Python stacks recorded, which slows the host");
  }
  constexpr double kWorthShare = 0.01;
  if (diagnosis && static_cast<double>(data.profiler_ns) >
                       kWorthShare * static_cast<double>(diagnosis->step_ns())) {
    parts.push_back(fmt::format("profiler overhead {}", time_of(data.profiler_ns)));
  }
  const std::string range = step_range_text(*summary.steps);
  if (!range.empty()) parts.push_back(range);
  int64_t cold = 0;
  for (const auto& step : summary.steps->steps) cold += step.cold ? 1 : 0;
  if (cold > 0) parts.push_back(count(cold, "cold step") + " (over twice the median)");
  if (summary.unlinked_kernels > 0) {
    const bool is_owned = diagnosis && diagnosis->whole_trace();
    parts.push_back(count(summary.unlinked_kernels, "kernel") + " without a launch" +
                    (is_owned ? "" : ", owned by no step"));
  }
  if (summary.lost_launches > 0) {
    parts.push_back(count(summary.lost_launches, "launch call") + " without a kernel");
  }
  if (summary.shared_correlations > 0) {
    parts.push_back(count(summary.shared_correlations, "call") + " with a shared correlation id");
  }
  if (diagnosis && !data.groups.all_flops_known && !summary.cpu_kernels) {
    parts.emplace_back(summary.device.empty()         ? "GPU not named, so no MFU"
                       : data.groups.most_flops_known ? "FLOPs of some kernels unknown"
                       : data.groups.flops > 0        ? "FLOPs of most kernels unknown, so no MFU"
                                                      : "no shapes, so no MFU");
  }
  if (has_estimates && !summary.cpu_kernels && !analysis::is_measured_gpu(summary.device)) {
    parts.push_back(fmt::format("savings estimated with {} figures", analysis::kMeasuredGpu));
  }
  return parts;
}

std::string no_advice_text(const Overview& data) {
  if (data.summary.cpu_kernels && !data.advised.advice.empty()) {
    return "savings are not estimated for CPU kernels; see epilogue advise";
  }
  switch (data.advised.diagnosis->limiter) {
    case Limiter::kInitializing:
    case Limiter::kCompiling:
      return "no advice: this is not a steady state; record steps after warm-up";
    case Limiter::kCapture:
      return "no advice: record the replays of the graph instead";
    case Limiter::kNotConclusive:
    case Limiter::kNotInTrace:
      return "no advice: the trace does not show what the GPU waits for";
    default:
      return data.groups.all_flops_known || data.summary.cpu_kernels
                 ? "no advice: no saving above 0.1 %"
                 : "no advice: no saving above 0.1 %; record with shapes to estimate more";
  }
}

}  // namespace epi::report
