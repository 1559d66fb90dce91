// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/diagnosis_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/join.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"
#include "epilogue/report/units.h"
#include "epilogue/report/words.h"

namespace epi::report {
namespace {

using analysis::Bound;
using analysis::Diagnosis;
using analysis::kBounds;
using analysis::Limiter;

double share(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void optional_json(JsonWriter& json, const char* key, const std::optional<double>& value,
                   double scale, int decimals) {
  json.key(key);
  value ? json.fixed(*value * scale, decimals) : json.null();
}

// What is usually compute-bound: the trace does not show whether it is here.
constexpr const char* kMatrixKernels = "GEMM/conv/attention";

// The largest first, as many as have room; `name_of` gives the words for a bound.
std::string bounds_text(const Diagnosis& diagnosis, const char* (*name_of)(Bound), size_t width) {
  const bool is_measured = diagnosis.is_compute_measured();
  const auto name = [&](Bound bound) {
    return bound == Bound::kCompute && !is_measured ? kMatrixKernels : name_of(bound);
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

// "; data loading leaves the GPU idle 33 % of the step": the largest cause of idle time.
std::string stall_text(const Diagnosis& diagnosis) {
  analysis::BoundTimes idle{};
  for (const auto& gap : diagnosis.gaps) {
    if (gap.cause != analysis::IdleCause::kNotLaunched) continue;
    idle[static_cast<size_t>(analysis::bound_of(gap.activity))] += gap.when.end - gap.when.begin;
  }
  const auto largest = std::max_element(idle.begin(), idle.end());
  constexpr double kMinShare = 0.1;
  const double part = share(*largest, diagnosis.window_ns());
  if (part < kMinShare) return "";
  return fmt::format("; {} leaves the GPU idle {:.0f} % of {}",
                     phrase_of(static_cast<Bound>(largest - idle.begin())), 100 * part,
                     window_text(diagnosis));
}

}  // namespace

const char* regime_text(Limiter limiter) {
  switch (limiter) {
    case Limiter::kGpu:
      return "gpu_bound";
    case Limiter::kHost:
      return "cpu_bound";
    case Limiter::kInput:
      return "input_bound";
    case Limiter::kSynchronizing:
      return "synchronisation_bound";
    case Limiter::kCommunication:
      return "communication_bound";
    case Limiter::kCopies:
      return "copy_bound";
    case Limiter::kAllocating:
      return "allocation_bound";
    case Limiter::kInitializing:
      return "initialisation_bound";
    case Limiter::kCompiling:
      return "compilation_bound";
    case Limiter::kMixed:
      return "mixed";
    case Limiter::kCapture:
      return "graph_capture";
    case Limiter::kNotInFile:
    case Limiter::kNotConclusive:
      return "not_conclusive";
    case Limiter::kNoDevice:
      return "no_device";
  }
  return "";
}

const char* window_text(const Diagnosis& diagnosis) {
  if (diagnosis.clipped_ns > 0) return "the analyzed time";
  return diagnosis.whole_trace ? "the trace" : "the step";
}

std::string verdict_text(const Diagnosis& diagnosis, bool cpu_kernels) {
  const double idle = 1 - share(diagnosis.busy_ns, diagnosis.window_ns());
  const char* what = window_text(diagnosis);
  const auto on_path = [&](const char* title, const char* activity) {
    return fmt::format("{}: {} {:.0f} % of {}", title, activity,
                       100 * diagnosis.share(diagnosis.limiter), what);
  };
  const std::string idle_text =
      cpu_kernels ? fmt::format("no kernel runs for {:.0f} % of {}", 100 * idle, what)
                  : fmt::format("the GPU is idle {:.0f} % of {}", 100 * idle, what);
  switch (diagnosis.limiter) {
    case Limiter::kGpu:
      return fmt::format("{} {:.0f} % of {}, mostly {}{}",
                         cpu_kernels ? "KERNEL-BOUND: kernels run" : "GPU-BOUND: the GPU is busy",
                         100 * (1 - idle), what, cpu_kernels ? "" : "with ",
                         diagnosis.bound() == Bound::kCompute && !diagnosis.is_compute_measured()
                             ? "GEMMs, convolutions and attention"
                             : phrase_of(diagnosis.bound()));
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
                         what);
    case Limiter::kNotInFile:
    case Limiter::kNotConclusive:
      if (diagnosis.launches_missing) {
        return fmt::format("NOT CONCLUSIVE: {}, and most launches are not in the trace", idle_text);
      }
      return fmt::format(
          "NOT CONCLUSIVE: {}for {:.0f} % of {} the {} waits for something not in the trace",
          2 * diagnosis.share(Limiter::kHost) > 1 ? "the host is busy, but " : "",
          100 * diagnosis.unexplained_share(), what, cpu_kernels ? "next kernel" : "GPU");
    case Limiter::kNoDevice:
      return kCpuOnly;
  }
  return "";
}

std::string path_text(const Diagnosis& diagnosis) {
  return bounds_text(diagnosis, static_cast<const char* (*)(Bound)>(phrase_of), SIZE_MAX);
}

std::string short_path_text(const Diagnosis& diagnosis, size_t width) {
  return bounds_text(diagnosis, static_cast<const char* (*)(Bound)>(short_of), width);
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
  return part.bound == Bound::kCompute && !part.is_measured ? "kernel" : short_of(part.bound);
}

}  // namespace

std::string critical_path_text(const Diagnosis& diagnosis, const trace::Trace& trace,
                               const PathStyle& style) {
  constexpr size_t kShownParts = 30;
  const size_t width = style.markdown ? SIZE_MAX / 2 : style.width;
  std::string out = wrapped(verdict_text(diagnosis, style.cpu_kernels), width) + '\n';
  out += wrapped(fmt::format("critical path of {}, {}: {}",
                             diagnosis.judged > 1 ? fmt::format("{} steps", diagnosis.judged)
                                                  : shortened_middle(diagnosis.shown, 40),
                             time_text(static_cast<double>(diagnosis.window_ns())),
                             path_text(diagnosis)),
                 width) +
         "\n\n";
  int64_t shortest = 0;
  if (!style.all && diagnosis.path.size() > kShownParts) {
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
    const std::string name = event_text(trace, part.event);
    table.add_row({time_text(static_cast<double>(part.begin_ns - diagnosis.window.begin)),
                   time_text(static_cast<double>(ns)),
                   fmt::format("{:.0f} %", 100 * share(ns, diagnosis.window_ns())),
                   bound_text(part), name});
  }
  out += style.markdown ? table.markdown() : table.text(style.width);
  if (left_out > 0) out += fmt::format("{} shorter parts not shown (--all)\n", left_out);
  return out;
}

void critical_path_json(JsonWriter& json, const Diagnosis& diagnosis, const trace::Trace& trace) {
  diagnosis_json(json, diagnosis);
  json.key("path").begin_array();
  for (const auto& part : diagnosis.path) {
    json.begin_object().key("ts_us").fixed(static_cast<double>(part.begin_ns) / 1000, 3);
    json.key("dur_us").fixed(static_cast<double>(part.end_ns - part.begin_ns) / 1000, 3);
    json.key("bound").string(text_of(part.bound)).key("name");
    part.event == trace::kNoEvent ? json.null() : json.string(trace.name_of(part.event));
    json.end_object();
  }
  json.end_array();
}

void diagnosis_json(JsonWriter& json, const Diagnosis& diagnosis) {
  json.key("name").string(diagnosis.name);
  json.key("bound_by");
  if (diagnosis.limiter >= Limiter::kMixed) {
    json.string(regime_text(diagnosis.limiter));
  } else {
    json.string(text_of(diagnosis.bound()));
  }
  json.key("regime").string(regime_text(diagnosis.limiter));
  json.key("shown").string(diagnosis.shown).key("judged").integer(diagnosis.judged);
  const auto us = [&](const std::string& key, int64_t ns) {
    json.key(key).fixed(static_cast<double>(ns) / 1000, 3);
  };
  us("window_us", diagnosis.window_ns());
  us("clipped_us", diagnosis.clipped_ns);
  us("busy_us", diagnosis.busy_ns);
  for (size_t i = 0; i < kBounds; ++i) {
    us(fmt::format("{}_us", text_of(static_cast<Bound>(i))), diagnosis.bounds[i]);
  }
}

std::string rate_text(const analysis::KernelRate& rate) {
  const auto compute_bound = rate.is_compute_bound();
  if (!compute_bound) return "-";
  return *compute_bound ? fmt::format("{:.0f} % FLOP/s", 100 * *rate.of_peak_flops)
                        : fmt::format("{:.0f} % B/s", 100 * *rate.of_peak_bandwidth);
}

void rate_json(JsonWriter& json, const analysis::KernelRate& rate) {
  const auto per_ns = [&](const std::optional<double>& amount) -> std::optional<double> {
    if (!amount || rate.ns <= 0) return std::nullopt;
    return *amount / rate.ns;
  };
  optional_json(json, "tflops", per_ns(rate.flops), 1e-3, 3);
  optional_json(json, "gb_s", per_ns(rate.bytes), 1, 3);
  optional_json(json, "of_peak_flops", rate.of_peak_flops, 1, 4);
  optional_json(json, "of_peak_bandwidth", rate.of_peak_bandwidth, 1, 4);
}

}  // namespace epi::report
