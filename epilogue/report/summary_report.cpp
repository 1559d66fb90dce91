// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/summary_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "epilogue/analysis/names/decode.h"
#include "epilogue/base/join.h"
#include "epilogue/base/visible_text.h"
#include "epilogue/report/diagnosis_report.h"
#include "epilogue/report/kernel_report.h"
#include "epilogue/report/steps_report.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"
#include "epilogue/report/units.h"

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
  const auto& instances = summary.steps.instances;
  if (summary.steps.is_whole_trace()) {
    return fmt::format("no steps marked; the trace takes {}\n",
                       time_text(static_cast<double>(instances[0].measures.cpu_ns)));
  }
  std::string out =
      fmt::format("{}, {}{}", plural(static_cast<double>(instances.size()), "step"),
                  instances.size() == 1 ? "" : "median ", time_text(summary.median.cpu_ns));
  size_t cold = 0;
  for (const auto& step : instances) {
    if (!step.cold) continue;
    if (++cold > kShownColdSteps) continue;
    out += fmt::format("{} {} {}", cold == 1 ? "; cold:" : ",", step.name,
                       time_text(static_cast<double>(step.measures.cpu_ns)));
  }
  if (cold > kShownColdSteps) out += fmt::format(" and {} more", cold - kShownColdSteps);
  return out + '\n';
}

std::string work_line(const Summary& summary) {
  const auto& m = summary.median;
  return fmt::format("{}: {}, {}, {}, {}; {} {}, busy {:.1f} %\n",
                     summary.steps.is_whole_trace() ? "the trace" : "a step",
                     plural(m.kernels, "kernel"), plural(m.launches, "launch", "es"),
                     fmt::format("{:.0f} memcpy", m.memcpys),
                     fmt::format("{:.0f} memset", m.memsets),
                     summary.cpu_kernels ? "kernels" : "GPU", time_text(m.device_ns), 100 * m.busy);
}

std::string diagnosis_text(const Summary& summary) {
  if (summary.diagnoses.empty()) return std::string(kCpuOnly) + '\n';
  const auto& diagnosis = summary.diagnoses.front();
  return fmt::format("{}\ncritical path: {}\n", verdict_text(diagnosis, summary.cpu_kernels),
                     path_text(diagnosis));
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

// Names with `rates` are kernels, the others are operators.
void names_json(JsonWriter& json, const char* key, const std::vector<analysis::NamedTime>& names,
                const std::vector<analysis::KernelRate>* rates) {
  json.key(key).begin_array();
  for (size_t i = 0; i < names.size(); ++i) {
    const auto& name = names[i];
    json.begin_object().key("name").string(name.name).key("count").integer(name.count);
    if (rates != nullptr) {
      rate_json(json, i < rates->size() ? (*rates)[i] : analysis::KernelRate());
      json.key("what").string(kernel_sentence(name.name, analysis::decode_name(name.name)));
    }
    json.key("us").fixed(static_cast<double>(name.ns) / 1000, 3);
    json.key("share").fixed(name.share, 4).end_object();
  }
  json.end_array();
}

}  // namespace

std::string summary_markdown(const Summary& summary, const std::string& file, NameStyle names) {
  std::string out =
      fmt::format("{}: {} events\n", visible_text(file, LineBreaks::kReplace), summary.events);
  out += machine_text(summary) + steps_line(summary);
  if (!summary.kernels.empty()) out += work_line(summary);
  out += diagnosis_text(summary) + lost_text(summary);
  out += names_table(summary.cpu_kernels ? "largest kernels" : "largest on the GPU",
                     summary.kernels, &summary.rates, names);
  return out + names_table("largest on the CPU, by self time", summary.ops, nullptr, names);
}

void summary_json(JsonWriter& json, const Summary& summary) {
  json.key("device");
  summary.device.empty() ? json.null() : json.string(summary.device);
  json.key("versions").begin_array();
  for (const std::string& version : summary.versions) json.string(version);
  json.end_array().key("events").integer(summary.events);
  json.key("regime").string(regime_text(summary.diagnoses.empty()
                                            ? analysis::Limiter::kNoDevice
                                            : summary.diagnoses.front().limiter));
  json.key("uses").begin_array();
  for (const auto& diagnosis : summary.diagnoses) {
    json.begin_object();
    diagnosis_json(json, diagnosis);
    json.end_object();
  }
  json.end_array();
  json.key("steps").begin_array();
  for (const auto& step : summary.steps.instances) {
    json.begin_object().key("name").string(step.name).key("cold").boolean(step.cold);
    measures_json(json, step.measures);
    json.end_object();
  }
  json.end_array();
  names_json(json, "kernels", summary.kernels, &summary.rates);
  names_json(json, "ops", summary.ops, nullptr);
  json.key("unlinked_kernels").integer(summary.unlinked_kernels);
  json.key("lost_launches").integer(summary.lost_launches);
  json.key("shared_correlations").integer(summary.shared_correlations);
}

}  // namespace epi::report
