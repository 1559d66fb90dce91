// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/first_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/time/step_graph.h"
#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/diagnosis_report.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/screen_parts.h"
#include "epilogue/report/steps_report.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"

namespace epi::report {
namespace {

using analysis::Diagnosis;
using analysis::Limiter;
using analysis::WorkGroup;

// "132,152"
std::string with_commas(int64_t number) {
  std::string text = fmt::format("{}", number);
  for (auto place = static_cast<std::ptrdiff_t>(text.size()) - 3; place > 0; place -= 3) {
    text.insert(static_cast<size_t>(place), ",");
  }
  return text;
}

std::string steps_text(const ScreenData& data) {
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

// "mlp_eager.json | NVIDIA H200 | 3 steps | 243 events". If that is too long, the least important
// parts are dropped first.
std::string header(const ScreenData& data, const std::string& file, size_t width) {
  const std::string name = std::filesystem::path(file).filename().string();
  std::string device = data.summary.device.empty()
                           ? "GPU not named"
                           : visible_text(data.summary.device, LineBreaks::kReplace);
  std::string steps = steps_text(data);
  std::string events = fmt::format(" | {} {}", with_commas(data.summary.events),
                                   data.summary.events == 1 ? "event" : "events");
  const auto size = [&] {
    return name.size() + device.size() + steps.size() + events.size() + 2 * std::strlen(" | ");
  };
  if (size() > width) steps = steps.substr(0, steps.find(" (median"));
  const size_t vendor = device.find("NVIDIA ");
  if (size() > width && vendor != std::string::npos) device.erase(vendor, 7);
  if (size() > width) events.clear();
  constexpr size_t kShortDevice = 12;
  if (size() > width) {
    device = shortened(
        device, std::max(kShortDevice, device.size() - std::min(device.size(), size() - width)));
  }
  const size_t rest = size() - name.size();
  return fmt::format("{} | {} | {}{}", shortened(name, width > rest + 20 ? width - rest : 20),
                     device, steps, events);
}

// Notes on the evidence for the verdict, and on how to use it.
std::vector<std::string> notes(const ScreenData& data, const trace::Trace& trace) {
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
  return fmt::format("MFU {}{:.2g} %: {} in {}\n",
                     data.groups.all_flops_known ? "" : ">= ", 100 * *share,
                     flops_text(data.groups.flops / steps),
                     time_of(data.advised.diagnosis->window_ns() / data.advised.diagnosis->judged));
}

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

// What makes the figures less sure.
std::string quality_text(const ScreenData& data, bool has_estimates) {
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
    parts.push_back(count(summary.unlinked_kernels, "kernel") + " without a launch, not counted");
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
  return parts.empty() ? "" : "trace: " + join(parts, "; ");
}

// What to do if no advice applies.
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

std::string next_text(const ScreenData& data, const std::string& file, size_t width) {
  const std::string word = shell_word(file);
  const std::string like = data.advised.blocks.mlps.empty() ? "" : " | run mlp --like " + word;
  const std::string text =
      fmt::format("next: epilogue advise {0} | report {0} -o r.html{1}", word, like);
  if (text.size() <= width) return text + '\n';
  return fmt::format("next: epilogue advise FILE | report FILE -o r.html | {}\n",
                     data.advised.blocks.mlps.empty() ? "breakdown FILE" : "run mlp --like FILE");
}

std::string host_table(const ScreenData& data, size_t width) {
  Table table({{"largest operators, by self time", Align::kLeft},
               {"calls", Align::kRight},
               {"time", Align::kRight},
               {"share", Align::kRight}});
  for (size_t i = 0; i < std::min<size_t>(data.summary.ops.size(), 8); ++i) {
    const auto& op = data.summary.ops[i];
    table.add_row({op.name, fmt::format("{}", op.count), time_of(op.ns),
                   fmt::format("{:.0f} %", 100 * op.share)});
  }
  return table.text(width);
}

}  // namespace

void screen_json(JsonWriter& json, const ScreenData& data) {
  const auto optional = [&](const char* key, const std::optional<double>& value) {
    json.key(key);
    value ? json.fixed(*value, 4) : json.null();
  };
  optional("mfu", data.groups.all_flops_known ? mfu(data) : std::nullopt);
  optional("mfu_at_least", mfu(data));
  json.key("work").begin_array();
  for (const WorkGroup& group : data.groups.groups) {
    json.begin_object().key("what").string(group_text(group)).key("calls").integer(group.calls);
    json.key("us").fixed(static_cast<double>(group.ns) / 1000, 3);
    optional("of_peak_flops", group.of_peak_flops);
    optional("of_peak_bandwidth", group.of_peak_bandwidth);
    optional("gb_s", group.bytes_per_ns);
    json.end_object();
  }
  json.end_array();
}

std::string first_screen(const ScreenData& data, const trace::Trace& trace, const std::string& file,
                         size_t width) {
  std::string out = header(data, file, width) + "\n\n";
  if (!data.advised.diagnosis) {
    if (data.summary.ops.empty()) {
      return out + "NOT CONCLUSIVE: no event has a known category (\"cat\")\n";
    }
    out += std::string(kCpuOnly) + "\n\n" + host_table(data, width) + '\n';
    const std::string word = shell_word(file);
    const std::string next = fmt::format("next: epilogue table {0} | tree {0}", word);
    return out + (next.size() <= width ? next : "next: epilogue table FILE | tree FILE") + '\n';
  }
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  out += wrapped(verdict_text(diagnosis, data.summary.cpu_kernels), width) + '\n';
  out += bar_text(data, width);
  constexpr const char* kPath = "critical path: ";
  out += kPath;
  out += diagnosis.launches_missing ? "unknown, launches are missing"
                                    : short_path_text(diagnosis, width - std::strlen(kPath));
  // GPU work that overlaps with the host's is not on the path, although the bar has it.
  constexpr double kMuchHidden = 0.2;
  const double hidden = static_cast<double>(diagnosis.busy_ns - diagnosis.ns(Limiter::kGpu)) /
                        static_cast<double>(std::max<int64_t>(1, diagnosis.window_ns()));
  if (!diagnosis.launches_missing && hidden > kMuchHidden) {
    out += "\n(GPU work that overlaps with host work is not on the critical path)";
  }
  out += '\n';
  for (const std::string& note : notes(data, trace)) out += wrapped(note, width) + '\n';
  std::string below = mfu_text(data);
  const std::string advice = advice_text(data, width);
  below += advice.empty() ? '\n' + wrapped(no_advice_text(data), width) + '\n' : advice;
  const std::string quality = quality_text(data, !advice.empty());
  if (!quality.empty()) below += wrapped(quality, width) + '\n';
  below += next_text(data, file, width);
  // The table of GPU work gets the remaining lines.
  const auto lines = [](const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  constexpr size_t kAround = 3;  // the empty line, the header of the table, "others"
  const size_t taken = lines(out) + lines(below) + kAround;
  const size_t left = kScreenLines > taken ? kScreenLines - taken : 0;
  return out + '\n' + groups_text(data, std::clamp<size_t>(left, 1, kScreenGroups), width) + below;
}

}  // namespace epi::report
