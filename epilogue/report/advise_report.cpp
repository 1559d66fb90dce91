// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/advise_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "epilogue/analysis/cost/gpu_peaks.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/diagnosis_report.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"
#include "epilogue/report/trace_start.h"
#include "epilogue/report/units.h"
#include "epilogue/report/words.h"
#include "epilogue/trace/step_name.h"

namespace epi::report {
namespace {

using analysis::Advice;
using analysis::AdviceReport;
using analysis::Reason;

constexpr size_t kShownAdvice = 6;
constexpr size_t kShownEvents = 2;

// "2: ATen pointwise: gelu, bf16 at 1.234 ms", to find the events in a trace viewer.
std::string events_text(const Advice& advice, const trace::Trace& trace, int64_t begin_ns) {
  if (advice.events.empty()) return "";
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
std::string calibration_text(const AdviceReport& report, const trace::Trace& trace) {
  const std::string device = analysis::device_name(trace);
  const bool estimates = std::any_of(report.advice.begin(), report.advice.end(),
                                     [](const Advice& one) { return one.saving_ns.high > 0; });
  if (!estimates || report.cpu_kernels || analysis::is_measured_gpu(device)) return "";
  return fmt::format("The estimates are calibrated on an {}, not on {}.", analysis::kMeasuredGpu,
                     device.empty() ? "this trace's GPU" : device);
}

// A line with a label and its text, or an item of a Markdown list.
std::string labeled(const char* label, const std::string& text, bool markdown, size_t width) {
  if (text.empty()) return "";
  if (markdown) {
    return fmt::format("   - {}: {}\n", label, visible_text(text, LineBreaks::kReplace));
  }
  constexpr size_t kMargin = 14;
  const std::string lines = indented(text, kMargin, width);
  return fmt::format("   {:<9}  {}\n", label, lines.substr(kMargin));
}

std::string item_text(const Advice& advice, size_t number, const AdviceReport& report,
                      const std::string& events, const AdviseStyle& style) {
  const size_t width = style.markdown ? SIZE_MAX / 2 : style.width;
  const std::string count = fmt::format("{}. ", number);
  const std::string title = indented(advice_title(advice), count.size(), width);
  const SavingText saving = saving_text(advice, report);
  std::string out = '\n' + count + title.substr(count.size()) + '\n';
  const auto line = [&](const char* label, const std::string& text) {
    out += labeled(label, text, style.markdown, width);
  };
  const std::string then = saving.then.empty() || number == 1
                               ? saving.then
                               : fmt::format("{}, after items 1 to {}", saving.then, number);
  line("saves", saving.saves);
  line("alone", saving.alone);
  line(report.subject.empty() ? "then" : "step then", then);
  line("based on", terms_text(advice.terms));
  line("events", events);
  return out;
}

}  // namespace

std::string like_command(const AdviceReport& report, const std::string& file) {
  const bool mlp = !report.blocks.mlps.empty();
  if (!mlp && report.blocks.linears.empty()) return "";
  const bool is_part = report.subject != trace::kAllSteps && !report.subject.empty();
  const std::string like = is_part ? file + ":" + report.subject : file;
  return fmt::format("epilogue run {} --like {}", mlp ? "mlp" : "linear", shell_word(like));
}

std::string advise_text(const AdviceReport& report, const trace::Trace& trace,
                        const AdviseStyle& style) {
  const size_t width = style.markdown ? SIZE_MAX / 2 : style.width;
  std::string out;
  const auto paragraph = [&](const std::string& text) {
    if (!text.empty()) out += wrapped(text, width) + '\n';
  };
  paragraph(verdict_line(report));
  if (report.reason == Reason::kNoDevice) return out;
  paragraph(compiled_text(report));
  if (report.diagnosis) {
    out += '\n';
    paragraph(verdict_text(*report.diagnosis, report.cpu_kernels));
    paragraph("critical path: " + path_text(*report.diagnosis));
  }
  const int64_t begin_ns = trace_start_ns(trace);
  const size_t shown =
      style.all ? report.advice.size() : std::min(report.advice.size(), kShownAdvice);
  for (size_t i = 0; i < shown; ++i) {
    const Advice& advice = report.advice[i];
    out += item_text(advice, i + 1, report, events_text(advice, trace, begin_ns), style);
  }
  if (shown < report.advice.size()) {
    out += fmt::format("\n{} more with --all\n", report.advice.size() - shown);
  }
  if (report.advice.empty()) {
    out += fmt::format("\nno advice for {}\n", scope_of(report).the);
  }
  for (const std::string& note : {calibration_text(report, trace), mode_text(report)}) {
    if (!note.empty()) out += '\n' + wrapped(note, width) + '\n';
  }
  const std::string command = style.suggests_run ? like_command(report, style.file) : "";
  if (!command.empty())
    out += fmt::format("\nRun this block here, in every mode:\n  {}\n", command);
  return out;
}

std::string advice_check_text(const analysis::AdviceCheck& check, bool markdown) {
  Table table({{"", Align::kLeft},
               {"before", Align::kRight},
               {"predicted", Align::kRight},
               {"after", Align::kRight}});
  table.add_row({check.cpu_kernels ? "kernel time" : "GPU time", time_text(check.device_ns),
                 check.has_estimate() ? time_text(check.device_ns - check.saving_ns.likely) : "-",
                 time_text(check.after_device_ns)});
  table.add_row({"saving", "", check.has_estimate() ? signed_time(check.saving_ns.likely) : "-",
                 signed_time(check.actual_ns)});
  table.add_row({"kernels", fmt::format("{}", check.kernels),
                 fmt::format("{}", check.kernels_predicted),
                 fmt::format("{}", check.kernels_after)});
  std::string out = markdown ? table.markdown() : table.text();
  if (!check.has_estimate()) {
    return out + (check.cpu_kernels ? "\nSavings are not estimated for CPU kernels.\n"
                                    : "\nThe trace before the change allows no estimate.\n");
  }
  if (check.change == analysis::Change::kGatedMlp) {
    out += "\nThe estimate is for gate, up and the activation in one kernel.\n";
  }
  const auto error = check.error();
  const char* result = !check.holds()   ? "The noise is larger than the estimate"
                       : *check.holds() ? "The measured saving is inside the range"
                                        : "The measured saving is outside the range";
  out += fmt::format("\n{} ({}).\n", result, range_text(check.saving_ns));
  out += error ? fmt::format("The estimate is {:.0f} % too {}.\n", 100 * std::abs(*error),
                             *error < 0 ? "low" : "high")
               : "The change saved nothing.\n";
  if (check.unchanged_ns != 0) {
    out += fmt::format("Noise: kernels that are the same in both runs differ by {}.\n",
                       time_text(std::abs(check.unchanged_ns)));
  }
  if (check.compile_ns > 0 && check.actual_ns > 0) {
    out += fmt::format("Compilation takes {} inside the steps and pays off after {:.0f} steps.\n",
                       time_text(check.compile_ns), check.compile_ns / check.actual_ns);
  }
  return out;
}

}  // namespace epi::report
