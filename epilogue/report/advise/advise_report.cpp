// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/advise/advise_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/kernels/kernel_report.h"
#include "epilogue/report/steps/diagnosis_report.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/trace_start.h"
#include "epilogue/report/text/units.h"
#include "epilogue/trace/step_name.h"

namespace epi::report {
namespace {

using analysis::Advice;
using analysis::AdviceReport;
using analysis::Reason;

constexpr size_t kShownAdvice = 6;
constexpr size_t kShownEvents = 2;

// "2: ATen pointwise: gelu, bf16 at 1.234 ms", to find the events in a trace viewer.
std::string events_text(const Advice& advice, const trace::Trace& trace) {
  if (advice.events.empty()) return "";
  const int64_t begin_ns = trace_start_ns(trace);
  std::string text = fmt::format("{}: ", advice.events.size());
  for (size_t i = 0; i < std::min(advice.events.size(), kShownEvents); ++i) {
    const trace::EventId id = advice.events[i];
    const std::string name(trace.name_of(id));
    const bool on_device = trace::is_device_work(trace.category[id]);
    const std::string shown = on_device ? kernel_sentence(name, analysis::decode_name(name)) : name;
    text += fmt::format("{}{} at {}", i == 0 ? "" : ", ", shown,
                        time_text(static_cast<double>(trace.ts_ns[id] - begin_ns)));
  }
  return text + (advice.events.size() > kShownEvents ? ", ..." : "");
}

// Recommends compiled code or a prebuilt kernel for the MLP.
std::string mode_text(const AdviceReport& report) {
  const auto& rows = report.block_rows;
  if (rows.empty() || report.instances < 2) return "";
  if (rows.size() == 1) {
    return fmt::format("The MLP has {} rows in every step: {}.", rows[0],
                       report.reason == Reason::kCompiled ? "a prebuilt kernel is also an option"
                                                          : "compile it, or use a prebuilt kernel");
  }
  std::vector<std::string> numbers;
  for (const int64_t count : std::span(rows).first(std::min<size_t>(rows.size(), 4))) {
    numbers.push_back(fmt::format("{}", count));
  }
  return fmt::format(
      "The rows of the MLP change between steps ({}{}). Prefer a prebuilt kernel, which takes any "
      "number of rows: torch.compile recompiles for new shapes unless they are marked dynamic.",
      join(numbers, ", "), rows.size() > numbers.size() ? ", ..." : "");
}

// A warning if the estimates are not calibrated for the GPU of the trace.
std::string calibration_text(const AdviseResult& result) {
  const AdviceReport& report = result.report;
  const std::string device = analysis::device_name(result.trace);
  const bool estimates = std::any_of(report.advice.begin(), report.advice.end(),
                                     [](const Advice& one) { return one.saving_ns.high > 0; });
  if (!estimates || report.cpu_kernels || result.gpu_is_calibrated()) return "";
  return fmt::format("The estimates are calibrated on an {}, not on {}.", analysis::kMeasuredGpu,
                     device.empty() ? "this trace's GPU" : device);
}

// A line with a label and its text, or an item of a Markdown list.
std::string labeled(const char* label, const std::string& text, const Style& style) {
  if (text.empty()) return "";
  if (style.markdown) {
    return fmt::format("   - {}: {}\n", label, visible_text(text, LineBreaks::kReplace));
  }
  constexpr size_t kMargin = 14;
  const std::string lines = indented(text, kMargin, style.width);
  return fmt::format("   {:<9}  {}\n", label, lines.substr(kMargin));
}

std::string item_text(const Advice& advice, size_t number, const AdviseResult& result,
                      const Style& style) {
  const std::string count = fmt::format("{}. ", number);
  const std::string title = indented(advice_title(advice), count.size(), style.line_width());
  const SavingText saving = saving_text(advice, result.report);
  std::string out = '\n' + count + title.substr(count.size()) + '\n';
  const auto line = [&](const char* label, const std::string& text) {
    out += labeled(label, text, style);
  };
  const std::string then = saving.then.empty() || number == 1
                               ? saving.then
                               : fmt::format("{}, after items 1 to {}", saving.then, number);
  line("saves", saving.saves);
  line(result.report.subject.empty() ? "then" : "step then", then);
  line("based on", terms_text(advice.terms));
  line("events", events_text(advice, result.trace));
  return out;
}

}  // namespace

AdviseResult::AdviseResult(const analysis::StepModels& models,
                           const std::optional<std::string>& under, std::string file_name)
    : trace(models.index().trace),
      report(analysis::advise(models, under)),
      file(std::move(file_name)) {}

std::vector<AdviceItem> AdviseResult::advice() const {
  std::vector<AdviceItem> items;
  for (const Advice& one : report.advice) items.push_back({one, *this});
  return items;
}

std::optional<std::string> AdviseResult::command() const {
  const bool mlp = !report.blocks.mlps.empty();
  if (!mlp && report.blocks.linears.empty()) return std::nullopt;
  const bool is_part = report.subject != trace::kAllSteps && !report.subject.empty();
  const std::string like = is_part ? file + ":" + report.subject : file;
  return fmt::format("epilogue run {} --like {}", mlp ? "mlp" : "linear", shell_word(like));
}

bool AdviseResult::gpu_is_calibrated() const {
  return analysis::is_measured_gpu(analysis::device_name(trace));
}

std::optional<analysis::Estimate> AdviseResult::fusion_saving() const {
  return report.cpu_kernels ? std::nullopt : std::optional(report.fusion.saving_ns);
}

std::string text_of(const AdviseResult& result, const Style& style) {
  const AdviceReport& report = result.report;
  std::string out;
  const auto paragraph = [&](const std::string& text) {
    if (!text.empty()) out += wrapped(text, style.line_width()) + '\n';
  };
  paragraph(verdict_line(report));
  if (report.reason == Reason::kNoDevice) return out;
  paragraph(compiled_text(report));
  if (report.diagnosis) {
    out += '\n';
    paragraph(verdict_text(*report.diagnosis, report.cpu_kernels));
    paragraph("critical path: " + path_text(*report.diagnosis));
  }
  const size_t shown =
      result.all ? report.advice.size() : std::min(report.advice.size(), kShownAdvice);
  for (size_t i = 0; i < shown; ++i) out += item_text(report.advice[i], i + 1, result, style);
  if (shown < report.advice.size()) {
    out += fmt::format("\n{} more with --all\n", report.advice.size() - shown);
  }
  if (report.advice.empty()) out += fmt::format("\nno advice for {}\n", scope_of(report).the);
  for (const std::string& note : {calibration_text(result), mode_text(report)}) {
    if (!note.empty()) out += '\n' + wrapped(note, style.line_width()) + '\n';
  }
  const auto command = result.suggests_run ? result.command() : std::nullopt;
  if (!command) return out;
  // A path that does not fit is in the JSON.
  const bool fits = command->size() + 2 <= style.line_width();
  out += fmt::format("\nRun this block here, in every mode:\n  {}\n",
                     fits ? *command : command->substr(0, command->find("--like")) + "--like FILE");
  return out;
}

}  // namespace epi::report
