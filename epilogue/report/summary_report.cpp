// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/summary_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "epilogue/report/kernel_report.h"
#include "epilogue/report/steps_report.h"
#include "epilogue/report/table.h"
#include "epilogue/report/units.h"

namespace epi::report {
namespace {

using analysis::Regime;
using analysis::Summary;

constexpr size_t kShownNames = 5;
constexpr size_t kShownColdSteps = 3;
constexpr size_t kNumbersWidth = 34;  // the columns beside a name

const char* regime_name(Regime regime) {
  switch (regime) {
    case Regime::kNoDevice:
      return "no_device";
    case Regime::kCpuBound:
      return "cpu_bound";
    case Regime::kMixed:
      return "mixed";
    case Regime::kDeviceBound:
      return "gpu_bound";
  }
  return "";
}

std::string regime_text(const Summary& summary) {
  const double idle = 100 * (1 - summary.median.busy);
  switch (summary.regime) {
    case Regime::kNoDevice:
      return "no device work is in this trace: it shows the CPU only\n";
    case Regime::kCpuBound:
      return fmt::format("bound by the CPU: the {} waits {:.0f} % of a step\n",
                         summary.own_kernels ? "kernel lane" : "GPU", idle);
    case Regime::kMixed:
      return fmt::format("neither bound: the {} waits {:.0f} % of a step\n",
                         summary.own_kernels ? "kernel lane" : "GPU", idle);
    case Regime::kDeviceBound:
      if (summary.busy > summary.median.busy) {
        return fmt::format("bound by the GPU: busy {:.0f} % of all steps, which queue up\n",
                           100 * summary.busy);
      }
      return fmt::format("bound by {}: busy {:.0f} % of a step\n",
                         summary.own_kernels ? "its kernels" : "the GPU",
                         100 * summary.median.busy);
  }
  return "";
}

std::string machine_text(const Summary& summary) {
  std::string out = summary.device.empty() ? "unknown device" : summary.device;
  for (const std::string& version : summary.versions) out += ", " + version;
  return out + '\n';
}

std::string steps_line(const Summary& summary) {
  const auto& instances = summary.steps.instances;
  const bool whole = instances.size() == 1 && instances[0].event == trace::kNoEvent;
  if (whole) {
    return fmt::format("no steps are marked: the whole trace, {}\n",
                       time_text(static_cast<double>(instances[0].measures.cpu_ns)));
  }
  std::string out =
      fmt::format("{}, {} each (median)", plural(static_cast<double>(instances.size()), "step"),
                  time_text(summary.median.cpu_ns));
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
  return fmt::format("a step: {}, {}, {}, {}; {} {}, busy {:.1f} %\n", plural(m.kernels, "kernel"),
                     plural(m.launches, "launch", "es"), fmt::format("{:.0f} memcpy", m.memcpys),
                     fmt::format("{:.0f} memset", m.memsets),
                     summary.own_kernels ? "kernels" : "GPU", time_text(m.device_ns), 100 * m.busy);
}

// Kernels are called what they are: no name of theirs fits into a column.
std::string names_table(const char* title, const std::vector<analysis::NamedTime>& names,
                        bool kernels, bool markdown, size_t width) {
  if (names.empty()) return {};
  const size_t name_width =
      markdown ? SIZE_MAX : std::max<size_t>(20, width - std::min(width, kNumbersWidth));
  Table table({{title, Align::kLeft},
               {"count", Align::kRight},
               {"time", Align::kRight},
               {"share", Align::kRight}});
  for (size_t i = 0; i < std::min(names.size(), kShownNames); ++i) {
    const std::string text =
        kernels ? kernel_sentence(names[i].name, analysis::read_kernel_name(names[i].name))
                : names[i].name;
    table.add_row({shortened(text, name_width), fmt::format("{}", names[i].count),
                   time_text(static_cast<double>(names[i].ns)),
                   fmt::format("{:.1f} %", 100 * names[i].share)});
  }
  return '\n' + (markdown ? table.markdown() : table.text());
}

std::string lost_text(const Summary& summary) {
  std::string out;
  if (summary.unlinked_kernels > 0) {
    out += fmt::format("note: {} belong to no launch and no operator\n",
                       plural(static_cast<double>(summary.unlinked_kernels), "kernel"));
  }
  if (summary.lost_launches > 0) {
    out += fmt::format("note: {} started a kernel that is not in the file: the profiler lost it\n",
                       plural(static_cast<double>(summary.lost_launches), "call"));
  }
  if (summary.shared_correlations > 0) {
    out += fmt::format("note: {} share a correlation: was this file merged from several?\n",
                       plural(static_cast<double>(summary.shared_correlations), "call"));
  }
  return out;
}

// As a shell takes it.
std::string shell_word(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789_./:=+-@%") == std::string::npos;
  if (plain && !word.empty()) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string next_text(const Summary& summary, const std::string& file) {
  const std::string under =
      summary.annotations.empty() ? "" : " --under " + shell_word(summary.annotations.front());
  return fmt::format(
      "\nnext:  epilogue table {0} --limit 20\n"
      "       epilogue steps {0}\n"
      "       epilogue tree {0}{1}\n"
      "       epilogue explain {0}\n",
      shell_word(file), under);
}

void names_json(JsonWriter& json, const char* key, const std::vector<analysis::NamedTime>& names,
                bool kernels) {
  json.key(key).begin_array();
  for (const auto& name : names) {
    json.begin_object().key("name").string(name.name).key("count").integer(name.count);
    if (kernels) {
      json.key("what").string(kernel_sentence(name.name, analysis::read_kernel_name(name.name)));
    }
    json.key("us").fixed(static_cast<double>(name.ns) / 1000, 3);
    json.key("share").fixed(name.share, 4).end_object();
  }
  json.end_array();
}

}  // namespace

std::string summary_text(const Summary& summary, const std::string& file, bool markdown,
                         size_t width) {
  std::string out = fmt::format("{}: {} events\n", file, summary.events);
  out += machine_text(summary);
  out += steps_line(summary);
  if (summary.regime != Regime::kNoDevice) out += work_line(summary);
  out += regime_text(summary);
  out += lost_text(summary);
  out += names_table(summary.own_kernels ? "largest kernels" : "largest on the GPU",
                     summary.kernels, true, markdown, width);
  out += names_table("largest on the CPU, by self time", summary.ops, false, markdown, width);
  if (!markdown) out += next_text(summary, file);
  return out;
}

void summary_json(JsonWriter& json, const Summary& summary) {
  json.key("device");
  summary.device.empty() ? json.null() : json.string(summary.device);
  json.key("versions").begin_array();
  for (const std::string& version : summary.versions) json.string(version);
  json.end_array().key("events").integer(summary.events);
  json.key("regime").string(regime_name(summary.regime));
  json.key("steps").begin_array();
  for (const auto& step : summary.steps.instances) {
    json.begin_object().key("name").string(step.name).key("cold").boolean(step.cold);
    measures_json(json, step.measures);
    json.end_object();
  }
  json.end_array();
  names_json(json, "kernels", summary.kernels, true);
  names_json(json, "ops", summary.ops, false);
  json.key("unlinked_kernels").integer(summary.unlinked_kernels);
  json.key("lost_launches").integer(summary.lost_launches);
}

}  // namespace epi::report
