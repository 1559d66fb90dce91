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
  std::string count = plural(static_cast<double>(steps.steps.size()), "step");
  const auto& diagnosis = data.advised.diagnosis;
  if (!diagnosis || steps.steps.size() == 1) return count;
  if (diagnosis->whole_trace()) return count + ", whole trace shown";
  const std::string_view name = diagnosis->step.name;
  const size_t number = name.rfind('#');
  return fmt::format("{}, {} shown (median)", count,
                     number == std::string_view::npos ? "one" : name.substr(number));
}

std::string decided_text(const Overview& data, size_t width) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  if (diagnosis.launches_missing) return "not re-timed: launches are missing";
  return without_text(diagnosis, data.summary.cpu_kernels, width);
}

namespace {

std::string percent_in(int64_t part_ns, int64_t all_ns, const std::string& name) {
  return fmt::format("{:.0f} % in {}",
                     100 * static_cast<double>(part_ns) / static_cast<double>(all_ns), name);
}

std::string host_work_text(const Overview& data) {
  const auto& work = data.host_work;
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  const bool is_limit = diagnosis.limiter == Limiter::kHost ||
                        diagnosis.limiter == Limiter::kHostWork ||
                        diagnosis.limiter >= Limiter::kMixed;
  if (!is_limit || work.ns == 0 || 10 * work.ns < diagnosis.analyzed_ns()) return "";
  const std::string name =
      work.name.empty() ? "" : "; " + percent_in(work.name_ns, work.ns, work.name);
  return fmt::format("{} of {} is host work without a call, over 1 ms at a time{}",
                     time_of(work.ns), window_text(diagnosis), name);
}

std::string loading_text(const Overview& data) {
  const auto& loading = data.loading;
  if (data.advised.diagnosis->limiter != Limiter::kInput || loading.fetches == 0) return "";
  const bool alone = loading.loader.find("SingleProcess") != std::string::npos;
  const std::string function =
      loading.function.empty()
          ? ""
          : ", " + percent_in(loading.function_ns, loading.ns, loading.function);
  return fmt::format("{}{} of {}{}", alone ? "The DataLoader has no workers: " : "DataLoader: ",
                     plural(static_cast<double>(loading.fetches), "fetch", "es"),
                     time_of(loading.ns / loading.fetches), function);
}

std::string longest_wait_text(const Diagnosis& diagnosis, const trace::Trace& trace) {
  if (diagnosis.limiter != Limiter::kNotConclusive) return "";
  const analysis::PathPart* longest = nullptr;
  for (const auto& part : diagnosis.path) {
    const bool longer =
        longest == nullptr || part.end_ns - part.begin_ns > longest->end_ns - longest->begin_ns;
    if (part.bound == analysis::Bound::kNotInTrace && longer) longest = &part;
  }
  if (longest == nullptr || longest->event == trace::kNoEvent) return "";
  return fmt::format("Longest wait: {} before {}", time_of(longest->end_ns - longest->begin_ns),
                     shortened(std::string(trace.name_of(longest->event)), 40));
}

// Only dispatch becomes faster without the profiler.
std::string profiler_text(const Overview& data) {
  constexpr double kMuch = 0.2;
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  const bool is_host = diagnosis.limiter == Limiter::kHost || diagnosis.limiter == Limiter::kMixed;
  if (!is_host || data.summary.cpu_kernels) return "";
  if (diagnosis.step.busy_share() < kMuch || diagnosis.limiter == Limiter::kMixed) {
    return "The profiler slows the host: host times are upper bounds.";
  }
  return fmt::format(
      "The profiler slows the host. Time {} without it first: if it takes about {}, it is "
      "GPU-bound and only GPU savings count.",
      diagnosis.whole_trace() ? "the run" : "a step", time_of(diagnosis.step.busy_ns));
}

// "collectives: 113.4 ms in 58 kernels, 4.180 ms of it exposed"
std::string collectives_text(const Overview& data, const analysis::TraceIndex& index) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  if (diagnosis.shares.communication_ns == 0) return "";
  const auto count = std::count_if(
      diagnosis.step.owned.work.begin(), diagnosis.step.owned.work.end(), [&](trace::EventId id) {
        return index.names[index.trace.name[id]].kind == analysis::Kind::kComm;
      });
  return fmt::format("collectives: {} in {}, {} of it exposed",
                     time_of(diagnosis.shares.communication_ns),
                     plural(static_cast<double>(count), "kernel"),
                     time_of(diagnosis.shares.exposed_communication_ns));
}

}  // namespace

std::vector<std::string> verdict_notes(const Overview& data, const analysis::TraceIndex& index) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) {
    if (!line.empty()) lines.push_back(line);
  };
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  add(differing_text(diagnosis));
  if (!diagnosis.whole_trace()) add(slow_text(diagnosis, *data.summary.steps));
  add(host_work_text(data));
  add(loading_text(data));
  add(longest_wait_text(diagnosis, index.trace));
  add(why_text(diagnosis, data.summary.cpu_kernels));
  add(profiler_text(data));
  add(collectives_text(data, index));
  return lines;
}

std::string mfu_text(const Overview& data) {
  const auto share = data.mfu();
  if (!share || !data.groups.most_flops_known) return "";
  return fmt::format("MFU {}{:.2g} %: {} in {}",
                     data.groups.all_flops_known ? "" : ">= ", 100 * *share,
                     flops_text(data.groups.flops), time_of(data.advised.diagnosis->step_ns()));
}

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
  constexpr double kWorthUnread = 0.02;
  if (data.kind_of_op_share >= kWorthUnread) {
    parts.push_back(
        fmt::format("kind of {:.0f} % of the GPU time from its operators, not its names",
                    100 * data.kind_of_op_share));
  }
  if (data.unknown_share >= kWorthUnread) {
    parts.push_back(fmt::format("kernels of unknown kind take {:.0f} % of the GPU time",
                                100 * data.unknown_share));
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
