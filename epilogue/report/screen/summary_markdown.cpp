// SPDX-License-Identifier: Apache-2.0
// A summary in Markdown, for a pull request.

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/screen/first_screen.h"
#include "epilogue/report/screen/screen_parts.h"
#include "epilogue/report/steps/diagnosis_report.h"
#include "epilogue/report/text/table.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"

namespace epi::report {
namespace {

using analysis::Summary;

constexpr size_t kShownNames = 5;
constexpr size_t kShownColdSteps = 3;

std::string machine_text(const Summary& summary) {
  std::string out = summary.device.empty() ? "unknown device" : summary.device;
  for (const std::string& version : summary.versions) out += ", " + version;
  return visible_text(out, LineBreaks::kReplace) + '\n';
}

std::string steps_line(const Summary& summary) {
  const auto& steps = summary.steps->steps;
  if (summary.steps->is_whole_trace()) {
    return fmt::format("no steps marked; the trace takes {}\n",
                       time_text(static_cast<double>(steps[0].step_ns)));
  }
  std::string out =
      fmt::format("{}, {}{}", plural(static_cast<double>(steps.size()), "step"),
                  steps.size() == 1 ? "" : "median ", time_text(summary.steps->medians().step_ns));
  size_t cold = 0;
  for (const auto& step : steps) {
    if (!step.cold) continue;
    if (++cold > kShownColdSteps) continue;
    out += fmt::format("{} {} {}", cold == 1 ? "; cold:" : ",", step.name,
                       time_text(static_cast<double>(step.step_ns)));
  }
  if (cold > kShownColdSteps) out += fmt::format(" and {} more", cold - kShownColdSteps);
  return out + '\n';
}

std::string work_line(const Summary& summary) {
  const auto m = summary.steps->medians();
  return fmt::format(
      "{}: {}, {}, {}, {}; {} {}, busy {:.1f} %\n",
      summary.steps->is_whole_trace() ? "the trace" : "a step", plural(m.kernels, "kernel"),
      plural(m.launches, "launch", "es"), fmt::format("{:.0f} memcpy", m.memcpys),
      fmt::format("{:.0f} memset", m.memsets), summary.cpu_kernels ? "kernels" : "GPU",
      time_text(m.gpu_ns), 100 * m.busy_share);
}

std::string diagnosis_text(const SummaryResult& result) {
  const auto& diagnosis = result.overview.advised.diagnosis;
  if (!diagnosis) return missing_work_text(result.overview.advised.missing_work) + '\n';
  return fmt::format("{}\ncritical path: {}\n",
                     verdict_text(*diagnosis, result.overview.summary.cpu_kernels),
                     path_text(*diagnosis));
}

// Kernels are shown by their decoded names: raw names do not fit into a column.
std::string names_table(const char* title, const std::vector<analysis::NamedTime>& names,
                        const std::vector<analysis::KernelRate>* rates, NameStyle style) {
  if (names.empty()) return {};
  std::vector<Table::Column> columns = {{title, Align::kLeft},
                                        {"count", Align::kRight},
                                        {"time", Align::kRight},
                                        {"share", Align::kRight}};
  if (rates != nullptr) columns.push_back({"of peak", Align::kRight});
  Table table(columns);
  for (size_t i = 0; i < std::min(names.size(), kShownNames); ++i) {
    const std::string text =
        rates != nullptr ? join(name_lines(names[i].name, style), " = ") : names[i].name;
    std::vector<std::string> cells = {text, fmt::format("{}", names[i].count),
                                      time_text(static_cast<double>(names[i].ns)),
                                      fmt::format("{:.1f} %", 100 * names[i].share)};
    if (rates != nullptr) cells.push_back(rate_text((*rates)[i]));
    table.add_row(std::move(cells));
  }
  return '\n' + table.markdown();
}

std::string lost_text(const Summary& summary) {
  std::string out;
  if (summary.unlinked_kernels > 0) {
    out += fmt::format("note: {} without a launch or operator\n",
                       plural(static_cast<double>(summary.unlinked_kernels), "kernel"));
  }
  if (summary.lost_launches > 0) {
    out += fmt::format("note: {} whose kernel is not in the trace, lost by the profiler\n",
                       plural(static_cast<double>(summary.lost_launches), "call"));
  }
  if (summary.shared_correlations > 0) {
    out += fmt::format("note: {} with a shared correlation id; is this file merged from several?\n",
                       plural(static_cast<double>(summary.shared_correlations), "call"));
  }
  return out;
}

}  // namespace

std::string summary_markdown(const SummaryResult& result) {
  const Summary& summary = result.overview.summary;
  const NameStyle names = result.names.value_or(NameStyle::kDecoded);
  std::string out = fmt::format("{}: {} events\n", visible_text(result.file, LineBreaks::kReplace),
                                summary.events);
  out += machine_text(summary) + steps_line(summary);
  if (!summary.kernels.empty()) out += work_line(summary);
  out += diagnosis_text(result) + lost_text(summary);
  out += names_table(summary.cpu_kernels ? "largest kernels" : "largest on the GPU",
                     summary.kernels, &summary.rates, names);
  return out + names_table("largest on the CPU, by self time", summary.ops, nullptr, names);
}

}  // namespace epi::report
