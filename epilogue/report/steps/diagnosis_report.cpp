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

// The largest first, as many as have room, in a form of the words for bounds.
std::string bounds_text(const Diagnosis& diagnosis, const char* BoundWords::* form, size_t width) {
  const bool is_measured = diagnosis.is_compute_measured();
  const auto name = [&](Bound bound) {
    return bound == Bound::kCompute && !is_measured ? kMatrixKernels : words_of(bound).*form;
  };
  std::vector<Bound> order;
  for (size_t i = 0; i < kBounds; ++i) {
    if (diagnosis.share(static_cast<Bound>(i)) >= 0.005) order.push_back(static_cast<Bound>(i));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](Bound a, Bound b) { return diagnosis.share(a) > diagnosis.share(b); });
  std::string text;
  for (const Bound bound : order) {
    const std::string part = fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name(bound),
                                         100 * diagnosis.share(bound));
    if (text.size() + part.size() > width) break;
    text += part;
  }
  return text;
}

// "; the GPU waits for data loading 33 % of the step": the largest cause of idle time.
std::string stall_text(const Diagnosis& diagnosis) {
  analysis::BoundTimes idle{};
  for (const auto& gap : diagnosis.gaps) {
    if (gap.cause != analysis::IdleCause::kNotLaunched) continue;
    idle[static_cast<size_t>(analysis::bound_of(gap.activity))] += gap.ns();
  }
  const auto largest = std::max_element(idle.begin(), idle.end());
  constexpr double kMinShare = 0.1;
  const double part = share(*largest, diagnosis.step_ns());
  if (part < kMinShare) return "";
  return fmt::format("; the GPU waits for {} {:.0f} % of {}",
                     words_of(static_cast<Bound>(largest - idle.begin())).phrase, 100 * part,
                     diagnosis.whole_trace() ? "the trace" : "the step");
}

}  // namespace

std::vector<std::string_view> conditions_of(const Diagnosis& diagnosis) {
  std::vector<std::string_view> keys;
  if (diagnosis.is_cut) keys.emplace_back("cut");
  if (diagnosis.clipped_ns > 0) keys.emplace_back("clipped");
  if (diagnosis.lost_launches > 0) keys.emplace_back("lost_launches");
  if (diagnosis.launches_missing) keys.emplace_back("launches_missing");
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
      return on_path("STARTUP-BOUND", "creating the context and loading modules takes");
    case Limiter::kCompiling:
      return on_path("COMPILE-BOUND", "compilation takes");
    case Limiter::kMixed:
      return "MIXED: no single limit dominates the critical path" + stall_text(diagnosis);
    case Limiter::kCapture:
      return fmt::format("GRAPH CAPTURE: {} records a CUDA graph, and its launches run nothing",
                         diagnosis.whole_trace() ? "the trace" : "the step");
    case Limiter::kNotInTrace:
    case Limiter::kNotConclusive:
      if (diagnosis.launches_missing) {
        return fmt::format("NOT CONCLUSIVE: {}, and most launches are not in the trace", idle_text);
      }
      return fmt::format(
          "NOT CONCLUSIVE: {}for {:.0f} % of {} the {} waits for something not in the trace",
          2 * diagnosis.share(Limiter::kHost) > 1 ? "the host is busy, but " : "",
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
  return parts.empty() ? "" : fmt::format("CONDITIONAL, {}: ", join(parts, " and "));
}

std::string verdict_text(const Diagnosis& diagnosis, bool cpu_kernels) {
  const auto shown = std::find_if(diagnosis.judged.begin(), diagnosis.judged.end(),
                                  [&](const auto& one) { return one.name == diagnosis.step.name; });
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
  return bounds_text(diagnosis, &BoundWords::phrase, SIZE_MAX);
}

std::string short_path_text(const Diagnosis& diagnosis, size_t width) {
  return bounds_text(diagnosis, &BoundWords::brief, width);
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
