// SPDX-License-Identifier: Apache-2.0
// Advice and its check against a second trace, as JSON.
#include <algorithm>
#include <span>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/report/advise_report.h"
#include "epilogue/report/diagnosis_report.h"
#include "epilogue/report/words.h"

namespace epi::report {
namespace {

using analysis::Advice;
using analysis::AdviceReport;
using analysis::Estimate;
using analysis::Term;

void estimate_json(JsonWriter& json, const char* key, const Estimate& estimate) {
  json.key(key).begin_object();
  json.key("low").fixed(estimate.low / 1000, 3);
  json.key("likely").fixed(estimate.likely / 1000, 3);
  json.key("high").fixed(estimate.high / 1000, 3).end_object();
}

void term_json(JsonWriter& json, const Term& term) {
  const auto [scale, unit] = [&]() -> std::pair<double, const char*> {
    switch (unit_of(term.what)) {
      case TermUnit::kCount:
        return {1, "count"};
      case TermUnit::kTime:
        return {1e-3, "us"};
      case TermUnit::kBytes:
        return {1, "B"};
      case TermUnit::kRate:
        return {1, "GB/s"};
      case TermUnit::kFlops:
        return {1, "FLOP"};
      case TermUnit::kFlopRate:
        return {1, "GFLOP/s"};
      case TermUnit::kShare:
        return {1, "share"};
    }
    return {1, ""};
  }();
  json.begin_object().key("what").string(text_of(term.what));
  json.key("text").string(term_text(term));
  json.key("value").fixed(term.value * scale, 3).key("unit").string(unit).end_object();
}

}  // namespace

void advise_json(JsonWriter& json, const AdviceReport& report, const trace::Trace& trace,
                 const AdviseJson& style) {
  json.key("verdict").string(text_of(report.verdict));
  json.key("because").string(verdict_line(report));
  json.key("calibrated_on").string(analysis::kMeasuredGpu);
  json.key("gpu_is_calibrated").boolean(analysis::is_measured_gpu(analysis::device_name(trace)));
  json.key("subject").string(report.subject.empty() ? "trace" : report.subject);
  json.key("instances").integer(report.instances);
  json.key("gpu_us").fixed(report.device_ns / 1000, 3);
  json.key("cpu_us").fixed(report.cpu_ns / 1000, 3);
  json.key("kernels").integer(report.kernels);
  json.key("kernels_compiled").integer(report.fusion.kernels_after);
  estimate_json(json, "fusing_saves_us", report.fusion.saving_ns);
  json.key("use");
  if (report.diagnosis) {
    json.begin_object();
    diagnosis_json(json, *report.diagnosis);
    json.end_object();
  } else {
    json.null();
  }
  const std::string command = like_command(report, style.file);
  json.key("command");
  command.empty() ? json.null() : json.string(command);
  json.key("advice").begin_array();
  for (const Advice& advice : report.advice) {
    json.begin_object().key("kind").string(text_of(advice.kind));
    json.key("what").string(advice_title(advice));
    json.key("saving").string(saving_text(advice, report).sentence());
    json.key("saves").string(advice.on_device ? "work" : "waiting");
    estimate_json(json, "saving_us", advice.saving_ns);
    json.key("step_saving_us").fixed(advice.step_saving_ns / 1000, 3);
    json.key("overlaps").boolean(advice.overlaps);
    json.key("step_after_us").fixed(advice.step_after_ns / 1000, 3);
    json.key("then_limited_by").string(regime_text(advice.then_limited_by));
    json.key("sureness").string(text_of(advice.confidence));
    json.key("terms").begin_array();
    for (const Term& term : advice.terms) term_json(json, term);
    json.end_array().key("events").begin_array();
    const size_t shown = std::min(advice.events.size(), style.max_events);
    for (const trace::EventId id : std::span(advice.events).first(shown)) {
      json.begin_object().key("name").string(trace.name_of(id));
      json.key("ts_us").fixed(static_cast<double>(trace.ts_ns[id]) / 1000, 3);
      json.key("dur_us").fixed(static_cast<double>(trace.dur_ns[id]) / 1000, 3).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
}

void advice_check_json(JsonWriter& json, const analysis::AdviceCheck& check) {
  json.key("before_us").fixed(check.device_ns / 1000, 3);
  json.key("after_us").fixed(check.after_device_ns / 1000, 3);
  estimate_json(json, "predicted_saving_us", check.saving_ns);
  json.key("actual_saving_us").fixed(check.actual_ns / 1000, 3);
  json.key("error");
  check.error() && check.has_estimate() ? json.fixed(*check.error(), 4) : json.null();
  json.key("compile_us").fixed(check.compile_ns / 1000, 3);
  json.key("change").string(check.change == analysis::Change::kFused ? "fused" : "gated_mlp");
  json.key("holds");
  check.holds() ? json.boolean(*check.holds()) : json.null();
  json.key("unchanged_kernels_us").fixed(check.unchanged_ns / 1000, 3);
  json.key("kernels").integer(check.kernels);
  json.key("kernels_predicted").integer(check.kernels_predicted);
  json.key("kernels_after").integer(check.kernels_after);
}

}  // namespace epi::report
