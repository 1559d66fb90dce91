// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/first_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/time/step_graph.h"
#include "epilogue/base/join.h"
#include "epilogue/report/advise_report.h"
#include "epilogue/report/diagnosis_report.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/steps_report.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"
#include "epilogue/report/units.h"
#include "epilogue/report/words.h"

namespace epi::report {
namespace {

using analysis::AdviceKind;
using analysis::Diagnosis;
using analysis::HostActivity;
using analysis::IdleCause;
using analysis::IdleGap;
using analysis::Limiter;
using analysis::WorkClass;
using analysis::WorkGroup;

constexpr size_t kShownAdvice = 3;

std::string time_of(int64_t ns) { return time_text(static_cast<double>(ns)); }

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
  const bool whole = instances.size() == 1 && instances[0].event == trace::kNoEvent;
  if (whole) return "no steps marked";
  std::string count = plural(static_cast<double>(instances.size()), "step");
  const auto& diagnosis = data.advised.diagnosis;
  if (!diagnosis || instances.size() == 1) return count;
  if (diagnosis->judged > 1) {
    const bool all = diagnosis->judged == static_cast<int64_t>(instances.size());
    return all ? count + ", judged together"
               : fmt::format("{} of {} judged together", diagnosis->judged, count);
  }
  const size_t number = diagnosis->shown.rfind('#');
  const bool numbered = number != std::string::npos;
  return fmt::format("{} ({} shown: median {} time)", count,
                     numbered ? diagnosis->shown.substr(number) : "one",
                     data.summary.cpu_kernels ? "kernel" : "GPU");
}

// "mlp_eager.json | NVIDIA H200 | 3 steps | 243 events"; what matters least goes first where that
// is too long.
std::string header(const ScreenData& data, const std::string& file, size_t width) {
  const std::string name = std::filesystem::path(file).filename().string();
  std::string device = data.summary.device.empty() ? "device not named" : data.summary.device;
  std::string steps = steps_text(data);
  std::string events = fmt::format(" | {} events", with_commas(data.summary.events));
  const auto size = [&] {
    return name.size() + device.size() + steps.size() + events.size() + 2 * std::strlen(" | ");
  };
  if (size() > width) steps = steps.substr(0, steps.find(": median"));
  if (steps.find('(') != std::string::npos && !steps.ends_with(')')) steps += ')';
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

// A part of the step's time, with the letter that it has in the bar.
struct BarPart {
  char letter;
  const char* what;
  int64_t ns = 0;
};

std::vector<BarPart> bar_parts(const ScreenData& data, const char* device) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  std::vector<BarPart> parts = {
      {'G', device, diagnosis.busy_ns - data.communication_alone_ns - data.copies_alone_ns},
      {'N', "collectives", data.communication_alone_ns},
      {'D', "copies", data.copies_alone_ns},
      {'I', "data loading"},
      {'H', "not launched"},
      {'S', "synchronisation"},
      {'C', "compilation"},
      {'A', "allocation"},
      {'M', "initialisation"},
      {'.', "gaps"},
      {'?', "not in the file"}};
  const auto add = [&](char letter, const IdleGap& gap) {
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [&](const BarPart& one) { return one.letter == letter; });
    part->ns += gap.when.end - gap.when.begin;
  };
  const auto letter_of = [](const IdleGap& gap) {
    if (gap.cause == IdleCause::kNotInFile || gap.cause == IdleCause::kNoLaunch) return '?';
    if (gap.cause != IdleCause::kNotLaunched) return '.';
    switch (gap.activity) {
      case HostActivity::kDispatch:
      case HostActivity::kLaunching:
      case HostActivity::kGuards:
      case HostActivity::kBetweenOps:
        return 'H';
      case HostActivity::kAllocating:
        return 'A';
      case HostActivity::kInitializing:
        return 'M';
      case HostActivity::kSynchronizing:
        return 'S';
      case HostActivity::kDataLoading:
        return 'I';
      case HostActivity::kCompiling:
        return 'C';
    }
    return 'H';
  };
  for (const IdleGap& gap : diagnosis.gaps) add(letter_of(gap), gap);
  std::erase_if(parts, [](const BarPart& part) { return part.ns <= 0; });
  std::stable_sort(parts.begin(), parts.end(),
                   [](const BarPart& a, const BarPart& b) { return a.ns > b.ns; });
  return parts;
}

std::string bar_text(const ScreenData& data, size_t width) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  const char* device = data.summary.cpu_kernels ? "kernels" : "GPU busy";
  const std::string what = std::string(window_text(diagnosis)).substr(std::strlen("the "));
  const std::string label = fmt::format("{} {} ", what, time_of(diagnosis.window_ns()));
  const auto room = static_cast<int64_t>(width - std::min(width - 10, label.size()));
  const std::vector<BarPart> parts = bar_parts(data, device);
  std::string bar;
  int64_t done = 0;
  for (const BarPart& part : parts) {
    done += part.ns;
    const int64_t to = diagnosis.window_ns() <= 0
                           ? 0
                           : (done * room + diagnosis.window_ns() / 2) / diagnosis.window_ns();
    while (static_cast<int64_t>(bar.size()) < std::min(to, room)) bar += part.letter;
  }
  const std::string margin(label.size(), ' ');
  std::string legend = margin;
  size_t column = margin.size();
  for (const BarPart& part : parts) {
    constexpr int64_t kShown = 200;
    if (part.ns * kShown < diagnosis.window_ns()) continue;  // too short to be seen
    const std::string one = fmt::format("{} {} {}", part.letter, part.what, time_of(part.ns));
    const bool first = column == margin.size();
    if (!first && column + 2 + one.size() > width) {
      legend += '\n' + margin;
      column = margin.size();
    }
    const char* space = column == margin.size() ? "" : "  ";
    legend += space + one;
    column += one.size() + (column == margin.size() ? 0 : 2);
  }
  return label + bar + '\n' + legend + '\n';
}

// What the verdict rests on, and what to do with it.
std::vector<std::string> notes(const ScreenData& data, const trace::Trace& trace) {
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  std::vector<std::string> lines;
  const double busy = diagnosis.window_ns() == 0 ? 0
                                                 : static_cast<double>(diagnosis.busy_ns) /
                                                       static_cast<double>(diagnosis.window_ns());
  constexpr double kMuch = 0.2;
  if (diagnosis.limiter == Limiter::kHost && !data.summary.cpu_kernels) {
    lines.push_back(
        busy < kMuch
            ? "Profiling slows the host: its times are upper bounds."
            : fmt::format("Profiling slows the host: time a step without it. Near {} it is "
                          "GPU-bound, and only savings of GPU time count.",
                          time_of(diagnosis.busy_ns / diagnosis.judged)));
  }
  if (diagnosis.limiter == Limiter::kHost &&
      2 * diagnosis.own_host_ns() > diagnosis.ns(Limiter::kHost)) {
    lines.push_back(
        fmt::format("{} of it are no dispatch: over 1 ms in one operator, or between two",
                    time_of(diagnosis.own_host_ns() / diagnosis.judged)));
  }
  if (diagnosis.limiter == Limiter::kInput && data.loading.fetches > 0) {
    const auto& loading = data.loading;
    const bool alone = loading.loader.find("SingleProcess") != std::string::npos;
    std::string text = fmt::format(
        "{} of {}{}", plural(static_cast<double>(loading.fetches), "fetch", "es"),
        time_of(loading.ns / loading.fetches), alone ? " on the main thread: no workers" : "");
    if (!loading.function.empty()) {
      text += fmt::format(
          "; {:.0f} % of it in {}",
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

const char* name_of(WorkClass what) {
  switch (what) {
    case WorkClass::kGemm:
      return "GEMM";
    case WorkClass::kAttention:
      return "attention";
    case WorkClass::kUnfusedAttention:
      return "unfused attention";
    case WorkClass::kConvolution:
      return "convolution";
    case WorkClass::kNorm:
      return "norm";
    case WorkClass::kSoftmax:
      return "softmax";
    case WorkClass::kReduction:
      return "reduction";
    case WorkClass::kPointwise:
      return "pointwise";
    case WorkClass::kOptimizer:
      return "optimizer";
    case WorkClass::kCommunication:
      return "communication";
    case WorkClass::kHostCopies:
      return "copies between host and device";
    case WorkClass::kDeviceCopies:
      return "copies and sets on the device";
    case WorkClass::kIndexing:
      return "gather, sort, random";
    case WorkClass::kOther:
      return "other kernels";
  }
  return "";
}

std::string group_text(const WorkGroup& group) {
  if (group.what == WorkClass::kGemm && group.about.empty() && group.kinds > 1) {
    return fmt::format("linear layers ({} shapes)", group.kinds);
  }
  if (group.about.empty()) return name_of(group.what);
  if (group.what == WorkClass::kPointwise || group.what == WorkClass::kReduction ||
      group.what == WorkClass::kHostCopies) {
    return group.about;
  }
  return fmt::format("{} {}", name_of(group.what), group.about);
}

// Of the peak that it comes nearer to; of a GEMM that the bandwidth limits also how fast it is.
std::string peak_text(const WorkGroup& group) {
  const double flops = group.of_arithmetic.value_or(0);
  const double bytes = group.of_bandwidth.value_or(0);
  if (!group.of_arithmetic && !group.of_bandwidth) return "-";
  if (flops >= bytes) return fmt::format("{:.0f} % FLOP/s", 100 * flops);
  if (group.what == WorkClass::kGemm && group.bytes_per_ns) {
    return fmt::format("{}/s, {:.0f} %", bytes_text(1e9 * *group.bytes_per_ns), 100 * bytes);
  }
  return fmt::format("{:.0f} % bandwidth", 100 * bytes);
}

std::string groups_text(const ScreenData& data, size_t most, size_t width) {
  const auto& groups = data.groups;
  if (groups.groups.empty()) return "";
  constexpr size_t kNumbers = 44;  // the columns beside a name
  const size_t name_width = width > kNumbers + 20 ? width - kNumbers : 20;
  Table table(
      {{fmt::format("{} {}", data.summary.cpu_kernels ? "kernels" : "GPU work", time_of(groups.ns)),
        Align::kLeft},
       {"calls", Align::kRight},
       {"time", Align::kRight},
       {"share", Align::kRight},
       {"of peak", Align::kRight}});
  const auto row = [&](const std::string& name, int64_t calls, int64_t ns, std::string peak) {
    const double share =
        groups.ns == 0 ? 0 : static_cast<double>(ns) / static_cast<double>(groups.ns);
    table.add_row({shortened(name, name_width), fmt::format("{}", calls), time_of(ns),
                   fmt::format("{:.0f} %", 100 * share), std::move(peak)});
  };
  int64_t rest_calls = groups.rest_calls;
  int64_t rest_ns = groups.rest_ns;
  for (size_t i = 0; i < groups.groups.size(); ++i) {
    const WorkGroup& group = groups.groups[i];
    if (i < most) {
      row(group_text(group), group.calls, group.ns, peak_text(group));
    } else {
      rest_calls += group.calls;
      rest_ns += group.ns;
    }
  }
  if (rest_calls > 0) row("others", rest_calls, rest_ns, "-");
  return table.text();
}

std::string mfu_text(const ScreenData& data) {
  const auto share = mfu(data);
  if (!share) return "";
  return fmt::format("MFU {}{:.2g} %: {} in {}\n",
                     data.groups.all_flops_known ? "" : ">= ", 100 * *share,
                     flops_text(data.groups.flops), time_of(data.advised.diagnosis->window_ns()));
}

// "GPU 67.26 us (50 to 108)", both ends in the unit of the estimate.
std::string device_saving_text(const analysis::Advice& advice, const char* device) {
  if (advice.confidence == analysis::Confidence::kNotConclusive) return "not conclusive";
  const analysis::Estimate& saving = advice.saving_ns;
  const double unit = saving.likely < 1e3   ? 1
                      : saving.likely < 1e6 ? 1e3
                      : saving.likely < 1e9 ? 1e6
                                            : 1e9;
  const auto number = [&](double ns) {
    return fmt::format("{:.{}f}", ns / unit, ns < 10 * unit ? 1 : 0);
  };
  return fmt::format("{} {} ({} to {})", device, time_text(saving.likely), number(saving.low),
                     number(saving.high));
}

// Of a step: what it adds to what is above. The host's part is an upper bound.
std::string step_saving_text(const analysis::Advice& advice, double saved_ns) {
  if (advice.kind == AdviceKind::kBatch) return "time per row";
  if (saved_ns < 1) return "nothing more";
  const bool at_most = advice.kind != AdviceKind::kSync;
  return fmt::format("{}{}", at_most ? "at most " : "", time_text(saved_ns));
}

std::string advice_text(const ScreenData& data, size_t width) {
  Table table({{"what could help, in order", Align::kLeft},
               {"saves", Align::kLeft},
               {"then bound by", Align::kLeft}});
  constexpr size_t kNumbers = 52;
  const char* device = data.summary.cpu_kernels ? "kernels" : "GPU";
  size_t shown = 0;
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  const double step_ns =
      static_cast<double>(diagnosis.window_ns()) / static_cast<double>(diagnosis.judged);
  double before_ns = step_ns;
  for (const auto& advice : data.advised.advice) {
    if (shown == kShownAdvice) break;
    constexpr double kWorthShare = 0.001;
    if (advice.saving_ns.likely <= kWorthShare * step_ns) continue;
    ++shown;
    const std::string title =
        fmt::format("{} {}{}", shown, advice.overlaps ? "or " : "", short_title(advice));
    const double saved_ns = before_ns - advice.step_after_ns;
    before_ns = advice.step_after_ns;
    const bool is_sequel = advice.is_timed && !advice.overlaps;
    const std::string then =
        fmt::format("{}, {}", short_of(advice.then_limited_by), time_text(advice.step_after_ns));
    // Work that is not on the path shortens the step only where the profiler slows the host.
    const bool hidden = is_sequel && advice.on_device && saved_ns < 1;
    table.add_row(
        {shortened(title, width > kNumbers + 20 ? width - kNumbers : 20),
         advice.on_device ? device_saving_text(advice, device) : step_saving_text(advice, saved_ns),
         !is_sequel ? "-"
         : hidden   ? "if GPU-bound"
                    : then});
  }
  return shown == 0 ? "" : '\n' + table.text();
}

// What makes the figures less sure.
std::string quality_text(const ScreenData& data) {
  std::vector<std::string> parts;
  const auto& summary = data.summary;
  const auto& diagnosis = data.advised.diagnosis;
  const auto count = [](int64_t number, const char* one) {
    return plural(static_cast<double>(number), one);
  };
  if (diagnosis && diagnosis->clipped_ns > 0) {
    parts.push_back(fmt::format("clipped start, {} before its first work not judged",
                                time_of(diagnosis->clipped_ns)));
  }
  if (diagnosis && diagnosis->limiter != Limiter::kGpu && data.has_stacks) {
    parts.emplace_back("Python stacks recorded, which slows the host");
  }
  constexpr double kWorthShare = 0.01;
  if (diagnosis && static_cast<double>(data.profiler_ns) >
                       kWorthShare * static_cast<double>(diagnosis->window_ns())) {
    parts.push_back(fmt::format("{} of the profiler's own", time_of(data.profiler_ns)));
  }
  int64_t cold = 0;
  for (const auto& step : summary.steps.instances) cold += step.cold ? 1 : 0;
  if (cold > 0) parts.push_back(count(cold, "cold step") + " (over twice the median)");
  if (summary.unlinked_kernels > 0) {
    parts.push_back(count(summary.unlinked_kernels, "kernel") + " without a launch, in no step");
  }
  if (summary.lost_launches > 0) {
    parts.push_back(count(summary.lost_launches, "launch call") + " without a kernel");
  }
  if (summary.shared_correlations > 0) {
    parts.push_back(count(summary.shared_correlations, "call") + " that share a correlation");
  }
  if (diagnosis && !data.groups.all_flops_known && !summary.cpu_kernels) {
    parts.emplace_back(summary.device.empty()  ? "device not named: no MFU"
                       : data.groups.flops > 0 ? "FLOPs of some kernels unknown"
                                               : "no shapes: no MFU");
  }
  return parts.empty() ? "" : "trace: " + join(parts, "; ");
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
  Table table({{"largest on the CPU, by self time", Align::kLeft},
               {"calls", Align::kRight},
               {"time", Align::kRight},
               {"share", Align::kRight}});
  constexpr size_t kNumbers = 34;
  for (size_t i = 0; i < std::min<size_t>(data.summary.ops.size(), 8); ++i) {
    const auto& op = data.summary.ops[i];
    table.add_row({shortened(op.name, width > kNumbers + 20 ? width - kNumbers : 20),
                   fmt::format("{}", op.count), time_of(op.ns),
                   fmt::format("{:.0f} %", 100 * op.share)});
  }
  return table.text();
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
    optional("of_peak_flops", group.of_arithmetic);
    optional("of_peak_bandwidth", group.of_bandwidth);
    optional("gb_s", group.bytes_per_ns);
    json.end_object();
  }
  json.end_array();
}

std::string first_screen(const ScreenData& data, const trace::Trace& trace, const std::string& file,
                         size_t width) {
  std::string out = header(data, file, width) + "\n\n";
  if (!data.advised.diagnosis) {
    if (data.summary.ops.empty()) return out + "NO EVENTS: nothing in this trace took time\n";
    out += "NO DEVICE WORK: this trace shows the CPU only\n\n" + host_table(data, width) + '\n';
    const std::string word = shell_word(file);
    const std::string next = fmt::format("next: epilogue table {0} | tree {0}", word);
    return out + (next.size() <= width ? next : "next: epilogue table FILE | tree FILE") + '\n';
  }
  const Diagnosis& diagnosis = *data.advised.diagnosis;
  out += wrapped(verdict_text(diagnosis, data.summary.cpu_kernels ? "kernel lane" : "GPU"), width) +
         '\n';
  out += bar_text(data, width);
  constexpr const char* kPath = "critical path: ";
  out += kPath;
  out += diagnosis.launches_missing ? "not known, launches are missing"
                                    : short_path_text(diagnosis, width - std::strlen(kPath));
  out += '\n';
  for (const std::string& note : notes(data, trace)) out += wrapped(note, width) + '\n';
  std::string below = mfu_text(data) + advice_text(data, width);
  const std::string quality = quality_text(data);
  if (!quality.empty()) below += wrapped(quality, width) + '\n';
  below += next_text(data, file, width);
  // Work has the lines that are left.
  const auto lines = [](const std::string& text) {
    return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  constexpr size_t kAround = 3;  // the empty line, the head of the table, "others"
  const size_t taken = lines(out) + lines(below) + kAround;
  const size_t left = kScreenLines > taken ? kScreenLines - taken : 0;
  return out + '\n' + groups_text(data, std::clamp<size_t>(left, 1, kScreenGroups), width) + below;
}

}  // namespace epi::report
