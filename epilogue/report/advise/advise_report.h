// SPDX-License-Identifier: Apache-2.0
// Advice: the verdict, then what would help, with the numbers and events behind it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/advise/advise.h"
#include "epilogue/report/advise/advice_words.h"
#include "epilogue/report/description/events.h"
#include "epilogue/report/steps/diagnosis_members.h"
#include "epilogue/report/text/style.h"

namespace epi::report {

struct AdviseResult {
  AdviseResult(const analysis::StepModels& models, const std::optional<std::string>& under,
               std::string file_name);

  const trace::Trace& trace;
  analysis::AdviceReport report;
  std::string file;           // named in the suggested command
  bool all = false;           // in the text: all advice, not only the first few pieces
  bool suggests_run = false;  // the text ends with a command that runs the block

  std::vector<struct AdviceItem> advice() const;
  // `epilogue run mlp --like FILE`. None if the trace has no MLP and no linear layer.
  std::optional<std::string> command() const;
  bool gpu_is_calibrated() const;
  std::optional<analysis::Estimate> fusion_saving() const;
};
std::string text_of(const AdviseResult& result, const Style& style);

// The first line: "torch.compile: likely to help. ..."
std::string verdict_line(const analysis::AdviceReport& report);
// How compiled code would differ. Empty if the verdict does not depend on it.
std::string compiled_text(const analysis::AdviceReport& report);

struct AdviceItem {
  const analysis::Advice& advice;
  const AdviseResult& result;

  std::optional<analysis::Estimate> saving() const {
    return advice.is_estimated ? std::optional(advice.saving_ns) : std::nullopt;
  }
  std::optional<double> bound() const {
    return advice.is_estimated || advice.bound_ns > 0 ? std::optional(advice.bound_ns)
                                                      : std::nullopt;
  }
  template <typename T>
  std::optional<T> if_timed(T value) const {
    return advice.has_step_after() ? std::optional(value) : std::nullopt;
  }
};

template <>
struct Description<analysis::Estimate> {
  using Estimate = analysis::Estimate;
  static constexpr const char* kName = "estimate";
  static constexpr std::tuple kMembers{
      Member{"low", "low", Unit::kNanoseconds, "low end of the range", &Estimate::low},
      Member{"likely", "likely", Unit::kNanoseconds, "most likely value", &Estimate::likely},
      Member{"high", "high", Unit::kNanoseconds, "high end of the range", &Estimate::high}};
};

// The value is in the unit that it names.
template <>
struct Description<analysis::Term> {
  using Term = analysis::Term;
  static constexpr const char* kName = "term";
  static constexpr std::tuple kMembers{
      Member{"what", "what", Unit::kNone, "what the number is", &Term::what},
      Member{"text", "text", Unit::kNone, "the number in words", &term_text},
      Member{"value", "value", Unit::kNumber, "the number", &term_value},
      Member{"unit", "unit", Unit::kNone, "its unit", &term_unit}};
};

template <>
struct Description<AdviceItem> {
  static constexpr const char* kName = "advice";
  static constexpr std::tuple kMembers{
      Member{"kind", "kind", Unit::kNone, "the kind of advice",
             [](const AdviceItem& one) { return one.advice.kind; }},
      Member{"title", "what could help", Unit::kNone, "what to do",
             [](const AdviceItem& one) { return advice_title(one.advice); }},
      Member{"saving_text", "saves", Unit::kNone, "what it saves, in words",
             [](const AdviceItem& one) {
               return saving_text(one.advice, one.result.report).sentence();
             }},
      Member{"shortens", "shortens", Unit::kNone, "GPU work, or what the GPU waits for",
             [](const AdviceItem& one) {
               return analysis::is_about_work(one.advice.kind) ? "work" : "waiting";
             }},
      Member{"saving_us", "saves", Unit::kNanoseconds,
             "what it saves of a step that runs without a profiler; null if not estimated",
             &AdviceItem::saving},
      Member{"saving_us_max", "at most", Unit::kNanoseconds,
             "the most that it can save of a step; null if not known", &AdviceItem::bound},
      Member{"is_alternative", "alternative", Unit::kNone,
             "shares most of its events with earlier advice",
             [](const AdviceItem& one) { return one.advice.is_alternative; }},
      Member{"step_after_us", "step after", Unit::kNanoseconds,
             "step time after this and all earlier advice, without alternatives; null if not "
             "estimated",
             [](const AdviceItem& one) { return one.if_timed(one.advice.step_after_ns); }},
      Member{"regime_after", "limit", Unit::kNone, "what limits that step",
             [](const AdviceItem& one) { return one.if_timed(one.advice.then_limited_by); }},
      Member{"confidence", "confidence", Unit::kNone, "how sure the saving is",
             [](const AdviceItem& one) { return one.advice.confidence; }},
      Member{"terms", "based on", Unit::kNone, "the numbers behind it",
             [](const AdviceItem& one) -> auto& { return one.advice.terms; }},
      Member{
          "events", "events", Unit::kNone, "the events that it is about",
          [](const AdviceItem& one) { return event_rows(one.result.trace, one.advice.events); }}};
};

template <>
struct Description<AdviseResult> {
  using Result = AdviseResult;
  static constexpr const char* kName = "advise";
  static constexpr std::tuple kMembers{
      Member{"verdict", "verdict", Unit::kNone, "whether torch.compile would help",
             [](const Result& one) { return one.report.verdict; }},
      Member{"reason", "reason", Unit::kNone, "the verdict and its reason in words",
             [](const Result& one) { return verdict_line(one.report); }},
      Member{"calibrated_on", "calibrated on", Unit::kNone, "the GPU of the recorded pairs",
             [](const Result&) { return analysis::kMeasuredGpu; }},
      Member{"gpu_is_calibrated", "calibrated", Unit::kNone, "this trace is from that GPU",
             &Result::gpu_is_calibrated},
      Member{"subject", "subject", Unit::kNone, "what the advice is about",
             [](const Result& one) {
               return one.report.subject.empty() ? std::string("trace") : one.report.subject;
             }},
      Member{"instances", "instances", Unit::kCount, "number of steps",
             [](const Result& one) { return one.report.instances; }},
      Member{"gpu_us", "GPU", Unit::kNanoseconds, "GPU time of the shown step",
             [](const Result& one) { return one.report.step.gpu_ns; }},
      Member{"cpu_us", "CPU", Unit::kNanoseconds, "CPU time of the shown step",
             [](const Result& one) { return one.report.step.cpu_ns; }},
      Member{"kernels", "kernels", Unit::kCount, "kernels of the shown step",
             [](const Result& one) { return one.report.step.kernels; }},
      Member{"kernels_compiled", "kernels compiled", Unit::kCount, "kernels after compilation",
             [](const Result& one) { return one.report.kernels_compiled; }},
      Member{"fusion_saving_us", "fusion saves", Unit::kNanoseconds,
             "GPU time of a step that fusion would save; null if not estimated",
             &Result::fusion_saving},
      Member{"diagnosis", "diagnosis", Unit::kNone, "what limits the steps; null without GPU work",
             [](const Result& one) -> auto& { return one.report.diagnosis; }},
      Member{"command", "command", Unit::kNone, "runs the block of the trace in every mode",
             &Result::command},
      Member{"advice", "advice", Unit::kNone, "the largest saving first", &Result::advice}};
};

}  // namespace epi::report
