// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/steps/diagnosis_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/join.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"
#include "epilogue/trace/event_args.h"

namespace epi::report {
namespace {

using analysis::Bound;
using analysis::Diagnosis;
using analysis::kBounds;
using analysis::Limiter;

double share(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// What is usually compute-bound: the trace does not show whether it is here.
constexpr const char* kMatrixKernels = "GEMM/conv/attention";

// "MIXED: GPU work and host dispatch limit steps about equally"
std::string mixed_text(const Diagnosis& diagnosis, bool cpu_kernels) {
  const std::vector<Limiter> order = diagnosis.by_saving();
  if (diagnosis.retimed.saves(order[0]) < analysis::kMinSaving) {
    return "MIXED: nothing alone makes steps shorter";
  }
  const auto word = [&](Limiter limiter) {
    return cpu_kernels && limiter == Limiter::kGpu ? "kernels" : words_of(limiter).time;
  };
  return fmt::format("MIXED: {} and {} limit steps about equally", word(order[0]), word(order[1]));
}

}  // namespace

std::vector<std::string_view> conditions_of(const Diagnosis& diagnosis) {
  std::vector<std::string_view> keys;
  if (diagnosis.is_cut) keys.emplace_back("cut");
  if (diagnosis.clipped_ns > 0) keys.emplace_back("clipped");
  if (diagnosis.lost_launches > 0) keys.emplace_back("lost_launches");
  if (diagnosis.launches_missing) keys.emplace_back("launches_missing");
  if (diagnosis.until_work_ends) keys.emplace_back("work_after_end");
  return keys;
}

std::vector<std::string_view> conditions_of(const analysis::MissingWork& missing) {
  std::vector<std::string_view> keys;
  if (missing.is_cut) keys.emplace_back("cut");
  if (missing.lost_launches > 0) keys.emplace_back("lost_launches");
  return keys;
}

std::string missing_work_text(const analysis::MissingWork& missing) {
  if (!missing.has_host_events) return "NOT CONCLUSIVE: no event has a known category (\"cat\")";
  if (missing.limiter() == Limiter::kNoDevice) return "CPU ONLY: the trace has no GPU work";
  if (missing.lost_launches == 0 && !missing.is_cut && !missing.other_device.empty()) {
    return fmt::format("NOT CONCLUSIVE: no known GPU events, but the trace names {}",
                       shortened(missing.other_device, 20));
  }
  const int64_t lost = missing.lost_launches;
  const std::string launches =
      lost == 0 ? "" : fmt::format(" of {}", plural(static_cast<double>(lost), "launch", "es"));
  return fmt::format("NOT CONCLUSIVE: {}the GPU events{} are not in the trace",
                     missing.is_cut ? "the file is cut, and " : "", launches);
}

Word bound_by(const Diagnosis& diagnosis) {
  return diagnosis.limiter >= Limiter::kMixed ? word_of(diagnosis.limiter)
                                              : word_of(diagnosis.bound());
}

const char* window_text(const Diagnosis& diagnosis) {
  if (diagnosis.clipped_ns > 0) return "the analyzed time";
  return diagnosis.whole_trace() ? "the trace" : "the step";
}

namespace {

// The verdict on the shown step, which agrees with that on all judged steps.
std::string shown_verdict_text(const Diagnosis& diagnosis, bool cpu_kernels) {
  const char* of_time = window_text(diagnosis);
  const double idle = share(diagnosis.analyzed_shares.idle_ns, diagnosis.analyzed_ns());
  const auto on_path = [&](const char* title, const char* activity) {
    return fmt::format("{}: {} {:.0f} % of {}", title, activity,
                       100 * diagnosis.share(diagnosis.limiter), of_time);
  };
  const std::string idle_text =
      cpu_kernels ? fmt::format("no kernel runs for {:.0f} % of {}", 100 * idle, of_time)
                  : fmt::format("the GPU is idle {:.0f} % of {}", 100 * idle, of_time);
  switch (diagnosis.limiter) {
    case Limiter::kGpu:
      return fmt::format("{} {:.0f} % of {}, mostly {}{}",
                         cpu_kernels ? "KERNEL-BOUND: kernels run" : "GPU-BOUND: the GPU is busy",
                         100 * share(diagnosis.analyzed_shares.busy_ns, diagnosis.analyzed_ns()),
                         of_time, cpu_kernels ? "" : "with ",
                         diagnosis.bound() == Bound::kCompute && !diagnosis.is_compute_measured()
                             ? "GEMMs, convolutions and attention"
                             : words_of(diagnosis.bound()).phrase);
    case Limiter::kHost:
      return "HOST-BOUND in this trace: " + idle_text;
    case Limiter::kHostWork:
      return on_path("HOST-BOUND", "host work other than dispatch takes");
    case Limiter::kInput:
      return on_path("INPUT-BOUND", "data loading takes");
    case Limiter::kSynchronizing:
      return on_path("SYNC-BOUND", "calls that wait for the GPU take");
    case Limiter::kCommunication:
      return on_path("COMMUNICATION-BOUND", "collectives take");
    case Limiter::kCopies:
      return on_path("COPY-BOUND", "copies between host and device take");
    case Limiter::kAllocating:
      return on_path("ALLOCATION-BOUND", "allocating and freeing device memory takes");
    case Limiter::kInitializing:
      return on_path("STARTUP-BOUND", "creating the context and loading modules takes") +
             (diagnosis.after_start_up
                  ? fmt::format(", then {}", words_of(*diagnosis.after_start_up).adjective)
                  : "");
    case Limiter::kCompiling:
      return on_path("COMPILE-BOUND", "compilation takes");
    case Limiter::kMixed:
      return mixed_text(diagnosis, cpu_kernels);
    case Limiter::kCapture:
      return fmt::format("GRAPH CAPTURE: {} records a CUDA graph, and its launches run nothing",
                         diagnosis.whole_trace() ? "the trace" : "the step");
    case Limiter::kNotInTrace:
    case Limiter::kNotConclusive:
      if (diagnosis.launches_missing) {
        return fmt::format("NOT CONCLUSIVE: {}, and most launches are not in the trace", idle_text);
      }
      if (diagnosis.unrecorded_ns > 0 &&
          share(diagnosis.unrecorded_ns, diagnosis.analyzed_ns()) > diagnosis.unexplained_share()) {
        return fmt::format("NOT CONCLUSIVE: for {:.0f} % of {} the host has no event",
                           100 * share(diagnosis.unrecorded_ns, diagnosis.analyzed_ns()), of_time);
      }
      return fmt::format(
          "NOT CONCLUSIVE: {}for {:.0f} % of {} the {} waits for something not in the trace",
          2 * (diagnosis.share(Limiter::kHost) + diagnosis.share(Limiter::kHostWork)) > 1
              ? "the host is busy, but "
              : "",
          100 * diagnosis.unexplained_share(), of_time, cpu_kernels ? "next kernel" : "GPU");
    case Limiter::kNoDevice:  // missing_work_text
      break;
  }
  return "";
}

}  // namespace

std::string condition_text(const Diagnosis& diagnosis) {
  const Limiter limiter = diagnosis.limiter;
  const bool is_verdict = limiter != Limiter::kNotConclusive && limiter != Limiter::kNotInTrace &&
                          limiter != Limiter::kCapture;
  if (!is_verdict) return "";
  std::vector<std::string> parts;
  if (diagnosis.is_cut) parts.emplace_back("the file is cut");
  if (diagnosis.clipped_ns > 0) {
    parts.emplace_back(diagnosis.whole_trace() ? "recording started during the work"
                                               : "recording started inside the step");
  }
  if (diagnosis.lost_launches > 0) {
    parts.push_back(plural(static_cast<double>(diagnosis.lost_launches), "launch", "es") +
                    " without a GPU event");
  }
  if (diagnosis.until_work_ends) {
    const int64_t ns = diagnosis.step.window.end - diagnosis.step.host.end;
    parts.push_back(fmt::format("{} if the next step waits for the GPU work ({} more)",
                                words_of(*diagnosis.until_work_ends).adjective,
                                time_text(static_cast<double>(ns))));
  }
  return parts.empty() ? "" : fmt::format("CONDITIONAL, {}: ", join(parts, " and "));
}

std::string verdict_text(const Diagnosis& diagnosis, bool cpu_kernels) {
  const auto shown =
      std::find_if(diagnosis.judged.begin(), diagnosis.judged.end(),
                   [&](const auto& one) { return one.place == diagnosis.shown_place; });
  const bool agrees = shown == diagnosis.judged.end() || shown->limiter == diagnosis.limiter;
  return condition_text(diagnosis) +
         (agrees ? shown_verdict_text(diagnosis, cpu_kernels)
                 : fmt::format("{} over {} steps; the step shown is {}",
                               words_of(diagnosis.limiter).title, diagnosis.judged.size(),
                               words_of(shown->limiter).adjective));
}

std::string differing_text(const Diagnosis& diagnosis) {
  const auto others = diagnosis.differing();
  if (others.empty()) return "";
  constexpr size_t kShown = 3;
  std::string text = fmt::format("{} of {} steps {} another limit:", others.size(),
                                 diagnosis.judged.size(), others.size() == 1 ? "has" : "have");
  for (size_t i = 0; i < std::min(others.size(), kShown); ++i) {
    const size_t number = others[i].name.rfind('#');
    text += fmt::format(
        "{} {} {}", i == 0 ? "" : ",",
        number == std::string_view::npos ? others[i].name : others[i].name.substr(number),
        words_of(others[i].limiter).adjective);
  }
  return text + (others.size() > kShown ? ", ..." : "");
}

std::string path_text(const Diagnosis& diagnosis) {
  std::vector<Bound> order;
  for (size_t i = 0; i < kBounds; ++i) {
    if (diagnosis.share(static_cast<Bound>(i)) >= 0.005) order.push_back(static_cast<Bound>(i));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](Bound a, Bound b) { return diagnosis.share(a) > diagnosis.share(b); });
  const bool is_measured = diagnosis.is_compute_measured();
  std::string text;
  for (const Bound bound : order) {
    const bool is_typical = bound == Bound::kCompute && !is_measured;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ",
                        is_typical ? kMatrixKernels : words_of(bound).phrase,
                        100 * diagnosis.share(bound));
  }
  return text;
}

std::string without_text(const Diagnosis& diagnosis, bool cpu_kernels, size_t width) {
  constexpr double kWorthShare = 0.005;
  const std::vector<Limiter> order = diagnosis.by_saving();
  const auto part_of = [&](Limiter limiter) {
    const double saves = diagnosis.retimed.saves(limiter);
    const char* what = cpu_kernels && limiter == Limiter::kGpu ? "kernels" : words_of(limiter).time;
    return fmt::format("without {} {}{:.0f} %", what, saves >= kWorthShare ? "-" : "",
                       100 * std::max(0.0, saves));
  };
  const auto is_always = [&](Limiter limiter) {
    return limiter == order[0] || limiter == Limiter::kGpu || limiter == Limiter::kHost;
  };
  std::vector<Limiter> shown;
  for (const Limiter limiter : order) {
    if (is_always(limiter) || diagnosis.retimed.saves(limiter) >= kWorthShare) {
      shown.push_back(limiter);
    }
  }
  const auto text = [&] {
    std::vector<std::string> parts;
    for (const Limiter limiter : shown) parts.push_back(part_of(limiter));
    return join(parts, ", ");
  };
  // The smallest that may be left out go first.
  for (size_t i = shown.size(); i-- > 0 && text().size() > width;) {
    if (!is_always(shown[i])) shown.erase(shown.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return text();
}

std::string why_text(const Diagnosis& diagnosis, bool cpu_kernels) {
  constexpr double kBusy = 0.75;
  constexpr double kIdle = 0.6;
  const double busy = diagnosis.step.busy_share();
  const Limiter limiter = diagnosis.limiter;
  const bool is_verdict = !diagnosis.launches_missing && limiter < Limiter::kNotInTrace;
  if (!is_verdict || diagnosis.clipped_ns > 0) return "";
  const Limiter largest = diagnosis.by_saving()[0];
  const double saves = 100 * std::max(0.0, diagnosis.retimed.saves(Limiter::kGpu));
  const bool is_work =
      limiter == Limiter::kGpu || limiter == Limiter::kCommunication || limiter == Limiter::kCopies;
  if (limiter == Limiter::kGpu && largest != limiter) {
    const double compute = share(diagnosis.analyzed_shares.compute_ns, diagnosis.analyzed_ns());
    return fmt::format("Compute covers {:.0f} % of the step: all else together can save {:.0f} %.",
                       100 * compute, 100 * (1 - compute));
  }
  if (largest != limiter && !diagnosis.until_work_ends) {
    return fmt::format("Without {} or {}, the other takes over. The GPU waits longer for {}.",
                       words_of(largest).time, words_of(limiter).time, words_of(limiter).time);
  }
  if (cpu_kernels) return "";
  if (!is_work && busy >= kBusy) {
    return fmt::format(
        "The GPU is busy {:.0f} % of the step, but without its work steps are only {:.0f} % "
        "shorter: the host takes as long.",
        100 * busy, saves);
  }
  if (is_work && busy <= kIdle) {
    return fmt::format(
        "The GPU is busy only {:.0f} % of the step, but the host waits for it: without its work, "
        "steps are {:.0f} % shorter.",
        100 * busy, saves);
  }
  return "";
}

namespace {

std::string step_number(std::string_view name) {
  const size_t at = name.rfind('#');
  return std::string(at == std::string_view::npos ? name : name.substr(at));
}

const char* ordinal_ending(int64_t number) {
  const int64_t last = number % 10;
  if (number / 10 % 10 == 1) return "th";
  return last == 1 ? "st" : last == 2 ? "nd" : last == 3 ? "rd" : "th";
}

// "#2 and #5 slow: data loading; #7: compilation": neighbors with the same reason together.
std::string slow_steps_text(const Diagnosis& diagnosis) {
  constexpr size_t kShown = 4;
  const auto& slow = diagnosis.slow;
  std::string text;
  for (size_t i = 0; i < std::min(slow.size(), kShown);) {
    size_t end = i;
    while (end < std::min(slow.size(), kShown) && slow[end].reason == slow[i].reason) ++end;
    std::string names;
    for (size_t one = i; one < end; ++one) {
      names += (one == i ? "" : one + 1 == end ? " and " : ", ") + step_number(slow[one].name);
    }
    text += fmt::format("{}{}{}: {}", text.empty() ? "" : "; ", names, text.empty() ? " slow" : "",
                        words_of(slow[i].reason).time);
    i = end;
  }
  const int64_t more = diagnosis.slow_count - static_cast<int64_t>(std::min(slow.size(), kShown));
  return more > 0 ? fmt::format("{}; {} more", text, more) : text;
}

}  // namespace

std::string slow_text(const Diagnosis& diagnosis, const analysis::StepGroup& steps) {
  if (steps.steps.size() < 2) return "";
  const auto [least, most] =
      std::minmax_element(steps.steps.begin(), steps.steps.end(),
                          [](const auto& a, const auto& b) { return a.step_ns < b.step_ns; });
  constexpr double kWorthRatio = 1.1;
  if (static_cast<double>(most->step_ns) < kWorthRatio * static_cast<double>(least->step_ns)) {
    return "";
  }
  std::string text =
      fmt::format("steps take {} to {}", time_text(static_cast<double>(least->step_ns)),
                  time_text(static_cast<double>(most->step_ns)));
  if (diagnosis.slow.empty()) return text;
  if (diagnosis.slow_every > 0) {
    return fmt::format("{}; every {}{} step is slow: {}", text, diagnosis.slow_every,
                       ordinal_ending(diagnosis.slow_every),
                       words_of(diagnosis.slow.front().reason).time);
  }
  return text + "; " + slow_steps_text(diagnosis);
}

namespace {

// A kernel by its decoded name.
std::string event_text(const trace::Trace& trace, trace::EventId id) {
  if (id == trace::kNoEvent) return "(between operators)";
  std::string name(trace.name_of(id));
  if (!trace::is_device_work(trace.category[id])) return name;
  const analysis::DecodedName decoded = analysis::decode_name(name);
  const std::string text = kernel_sentence(name, decoded);
  // The tile says more than the library, and both do not fit.
  const size_t kind = is_gemm(decoded.kind) ? text.find("GEMM") : 0;
  return kind == std::string::npos ? text : text.substr(kind);
}

// A kernel without a known rate is only typically compute-bound.
const char* bound_text(const analysis::PathPart& part) {
  return part.bound == Bound::kCompute && !part.is_measured ? "kernel" : words_of(part.bound).brief;
}

}  // namespace

CriticalPath::CriticalPath(const analysis::StepModels& models, bool all)
    : trace(models.index().trace),
      diagnosis(analysis::diagnose(models, models.judged())),
      cpu_kernels(trace::has_cpu_kernels(trace)),
      all_parts(all) {
  if (!diagnosis) missing_work = analysis::missing_work(models.index());
}

Limiter CriticalPath::regime() const {
  return diagnosis ? diagnosis->limiter : missing_work.limiter();
}

std::vector<std::string_view> CriticalPath::conditions() const {
  return diagnosis ? conditions_of(*diagnosis) : conditions_of(missing_work);
}

std::vector<PathRow> CriticalPath::path() const {
  std::vector<PathRow> rows;
  if (!diagnosis) return rows;
  for (const analysis::PathPart& part : diagnosis->path) {
    rows.push_back({part, part.event == trace::kNoEvent
                              ? std::nullopt
                              : std::optional(trace.name_of(part.event))});
  }
  return rows;
}

std::string text_of(const CriticalPath& path, const Style& style) {
  constexpr size_t kShownParts = 30;
  if (!path.diagnosis) return missing_work_text(path.missing_work) + '\n';
  const Diagnosis& diagnosis = *path.diagnosis;
  std::string out = wrapped(verdict_text(diagnosis, path.cpu_kernels), style.line_width()) + '\n';
  out += wrapped(fmt::format("critical path of {}, {}: {}",
                             shortened_middle(std::string(diagnosis.step.name), 40),
                             time_text(static_cast<double>(diagnosis.analyzed_ns())),
                             path_text(diagnosis)),
                 style.line_width()) +
         "\n\n";
  int64_t shortest = 0;
  if (!path.all_parts && diagnosis.path.size() > kShownParts) {
    std::vector<int64_t> lengths;
    for (const auto& part : diagnosis.path) lengths.push_back(part.end_ns - part.begin_ns);
    std::nth_element(lengths.begin(), lengths.begin() + kShownParts - 1, lengths.end(),
                     std::greater<>());
    shortest = lengths[kShownParts - 1];
  }
  Table table({{"at", Align::kRight},
               {"takes", Align::kRight},
               {"share", Align::kRight},
               {"bound", Align::kLeft},
               {"event", Align::kLeft}});
  table.shrink(4);
  size_t left_out = 0;
  for (const auto& part : diagnosis.path) {
    const int64_t ns = part.end_ns - part.begin_ns;
    if (ns < shortest) {
      ++left_out;
      continue;
    }
    table.add_row({time_text(static_cast<double>(part.begin_ns - diagnosis.analyzed.begin)),
                   time_text(static_cast<double>(ns)),
                   fmt::format("{:.0f} %", 100 * share(ns, diagnosis.analyzed_ns())),
                   bound_text(part), event_text(path.trace, part.event)});
  }
  out += style.markdown ? table.markdown() : table.text(style.width);
  if (left_out > 0) out += fmt::format("{} shorter parts not shown (--all)\n", left_out);
  return out;
}

}  // namespace epi::report
