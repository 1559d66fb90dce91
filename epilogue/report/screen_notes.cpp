// SPDX-License-Identifier: Apache-2.0
// Sentences of the first screen and of the report page: what the verdict rests on, and how far to
// trust it.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/time/step_graph.h"
#include "epilogue/report/diagnosis_report.h"
#include "epilogue/report/screen_parts.h"
#include "epilogue/report/text.h"

namespace epi::report {

using analysis::Diagnosis;
using analysis::Limiter;

std::string shown_steps_text(const ScreenData& data) {
  const auto& instances = data.summary.steps.instances;
  if (data.summary.steps.is_whole_trace()) return "no steps marked";
  std::string count = plural(static_cast<double>(instances.size()), "step");
  const auto& diagnosis = data.advised.diagnosis;
  if (!diagnosis || instances.size() == 1) return count;
  if (diagnosis->judged > 1) {
    const bool all = diagnosis->judged == static_cast<int64_t>(instances.size());
    return all ? count + ", mean shown"
               : fmt::format("{}, mean of {} shown", count, diagnosis->judged);
  }
  const size_t number = diagnosis->shown.rfind('#');
  const bool numbered = number != std::string::npos;
  return fmt::format("{}, {} shown (median {} time)", count,
                     numbered ? diagnosis->shown.substr(number) : "one",
                     data.summary.cpu_kernels ? "kernel" : "GPU");
}

std::vector<std::string> path_lines(const ScreenData& data, size_t width) {
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
  const double hidden = static_cast<double>(diagnosis.busy_ns - diagnosis.ns(Limiter::kGpu)) /
                        static_cast<double>(std::max<int64_t>(1, diagnosis.window_ns()));
  if (hidden > kMuchHidden) {
    lines.emplace_back("(GPU work that overlaps with host work is not on the critical path)");
  }
  return lines;
}

std::vector<std::string> verdict_notes(const ScreenData& data, const trace::Trace& trace) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  std::vector<std::string> lines;
  const double busy = diagnosis.window_ns() == 0 ? 0
                                                 : static_cast<double>(diagnosis.busy_ns) /
                                                       static_cast<double>(diagnosis.window_ns());
  constexpr double kMuch = 0.2;
  const bool is_host = diagnosis.limiter == Limiter::kHost || diagnosis.limiter == Limiter::kMixed;
  if (is_host && !data.summary.cpu_kernels) {
    lines.push_back(
        busy < kMuch || diagnosis.limiter == Limiter::kMixed
            ? "The profiler slows the host: host times are upper bounds."
            : fmt::format(
                  "The profiler slows the host. Time {} without it first: if it takes about {}, "
                  "it is GPU-bound and only GPU savings count.",
                  diagnosis.whole_trace ? "the run" : "a step",
                  time_of(diagnosis.busy_ns / diagnosis.judged)));
  }
  if (diagnosis.limiter == Limiter::kHost &&
      2 * diagnosis.program_host_ns() > diagnosis.ns(Limiter::kHost)) {
    lines.push_back(
        fmt::format("{} of the host time is not dispatch: operators or gaps of over 1 ms",
                    time_of(diagnosis.program_host_ns() / diagnosis.judged)));
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
      if (part.bound == analysis::Bound::kNotInFile && longer) longest = &part;
    }
    if (longest != nullptr && longest->event != trace::kNoEvent) {
      lines.push_back(fmt::format("Longest wait: {} before {}",
                                  time_of(longest->end_ns - longest->begin_ns),
                                  shortened(std::string(trace.name_of(longest->event)), 40)));
    }
  }
  return lines;
}

std::string mfu_text(const ScreenData& data) {
  const auto share = mfu(data);
  if (!share || !data.groups.most_flops_known) return "";
  const auto steps = static_cast<double>(data.advised.diagnosis->judged);
  return fmt::format("MFU {}{:.2g} %: {} in {}",
                     data.groups.all_flops_known ? "" : ">= ", 100 * *share,
                     flops_text(data.groups.flops / steps),
                     time_of(data.advised.diagnosis->window_ns() / data.advised.diagnosis->judged));
}

namespace {

// "steps take 99.55 ms to 110.9 ms", if they differ enough to matter.
std::string step_range_text(const analysis::InstanceGroup& steps) {
  if (steps.instances.size() < 2) return "";
  int64_t least = INT64_MAX;
  int64_t most = 0;
  for (const auto& step : steps.instances) {
    least = std::min(least, step.measures.window_ns);
    most = std::max(most, step.measures.window_ns);
  }
  constexpr double kWorthRatio = 1.1;
  if (static_cast<double>(most) < kWorthRatio * static_cast<double>(least)) return "";
  return fmt::format("steps take {} to {}", time_of(least), time_of(most));
}

}  // namespace

std::vector<std::string> quality_notes(const ScreenData& data, bool has_estimates) {
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
                       kWorthShare * static_cast<double>(diagnosis->window_ns())) {
    parts.push_back(fmt::format("profiler overhead {}", time_of(data.profiler_ns)));
  }
  const std::string range = step_range_text(summary.steps);
  if (!range.empty()) parts.push_back(range);
  int64_t cold = 0;
  for (const auto& step : summary.steps.instances) cold += step.cold ? 1 : 0;
  if (cold > 0) parts.push_back(count(cold, "cold step") + " (over twice the median)");
  if (summary.unlinked_kernels > 0) {
    const bool is_counted = diagnosis && diagnosis->launches_missing;
    parts.push_back(count(summary.unlinked_kernels, "kernel") + " without a launch" +
                    (is_counted ? "" : ", not counted"));
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

std::string no_advice_text(const ScreenData& data) {
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
    case Limiter::kNotInFile:
      return "no advice: the trace does not show what the GPU waits for";
    default:
      return data.groups.all_flops_known || data.summary.cpu_kernels
                 ? "no advice: no saving above 0.1 %"
                 : "no advice: no saving above 0.1 %; record with shapes to estimate more";
  }
}

std::string no_device_text(const ScreenData& data) {
  return data.summary.ops.empty() ? "NOT CONCLUSIVE: no event has a known category (\"cat\")"
                                  : kCpuOnly;
}

}  // namespace epi::report
