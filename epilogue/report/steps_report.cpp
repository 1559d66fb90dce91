// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/steps_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "epilogue/report/table.h"
#include "epilogue/report/text.h"
#include "epilogue/report/units.h"

namespace epi::report {
namespace {

using analysis::Instance;
using analysis::InstanceGroup;
using analysis::Measures;

double us(double ns) { return ns / 1000; }

std::string share(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::vector<Table::Column> columns(const char* first, const char* second, bool cpu_kernels) {
  const char* kernel_time = cpu_kernels ? "kernel time" : "GPU";
  return {{first, Align::kLeft},        {second, Align::kRight}, {"CPU", Align::kRight},
          {kernel_time, Align::kRight}, {"busy", Align::kRight}, {"idle", Align::kRight},
          {"kernels", Align::kRight}};
}

Table annotations_table(const std::vector<InstanceGroup>& annotations, bool cpu_kernels) {
  Table table(columns("annotation", "count", cpu_kernels));
  for (const InstanceGroup& group : annotations) {
    const auto m = analysis::median_measures(group);
    const std::string kernels =
        m.kernels_min == m.kernels_max
            ? fmt::format("{}", m.kernels_min)
            : fmt::format("{} ({}-{})", count_text(m.kernels), m.kernels_min, m.kernels_max);
    const auto cold = std::count_if(group.instances.begin(), group.instances.end(),
                                    [](const Instance& instance) { return instance.cold; });
    table.add_row({group.name + (cold > 0 ? fmt::format(" ({} cold)", cold) : ""),
                   fmt::format("{}", group.instances.size()), time_text(m.cpu_ns),
                   time_text(m.device_ns), share(m.busy), time_text(m.idle_ns), kernels});
  }
  return table;
}

std::string copies_text(const InstanceGroup& steps) {
  int64_t memcpys = 0;
  int64_t memsets = 0;
  int64_t syncs = 0;
  for (const Instance& step : steps.instances) {
    memcpys += step.measures.memcpys;
    memsets += step.measures.memsets;
    syncs += step.measures.syncs;
  }
  return fmt::format("{}: {} memcpy, {} memset, {}\n",
                     steps.is_whole_trace() ? "total" : "all steps", memcpys, memsets,
                     plural(static_cast<double>(syncs), "synchronizing call"));
}

}  // namespace

Table steps_table(const InstanceGroup& steps, bool cpu_kernels) {
  Table table(
      columns(steps.is_whole_trace() ? "no steps marked" : "step", "launches", cpu_kernels));
  for (const Instance& step : steps.instances) {
    const Measures& m = step.measures;
    table.add_row({step.name + (step.cold ? " (cold)" : ""), fmt::format("{}", m.launches),
                   time_text(static_cast<double>(m.cpu_ns)),
                   time_text(static_cast<double>(m.device_ns)), share(m.busy()),
                   time_text(static_cast<double>(m.idle_ns())), fmt::format("{}", m.kernels)});
  }
  return table;
}

std::string steps_text(const StepsReport& report, bool markdown, size_t width) {
  const auto print = [&](const Table& table) {
    return markdown ? table.markdown() : table.text(width, Table::Cut::kMiddle);
  };
  std::string out = print(steps_table(report.steps, report.cpu_kernels)) + (markdown ? "\n" : "");
  out += copies_text(report.steps);
  if (report.annotations.empty()) return out;
  return out + "\nannotations, medians of all instances\n" + (markdown ? "\n" : "") +
         print(annotations_table(report.annotations, report.cpu_kernels));
}

void median_json(JsonWriter& json, const InstanceGroup& group) {
  const auto m = analysis::median_measures(group);
  json.key("kernels_min").integer(m.kernels_min).key("kernels_max").integer(m.kernels_max);
  json.key("cpu_us_median").fixed(us(m.cpu_ns), 3);
  json.key("gpu_us_median").fixed(us(m.device_ns), 3);
  json.key("kernels_median").fixed(m.kernels, 1).key("memcpy_median").fixed(m.memcpys, 1);
  json.key("memset_median").fixed(m.memsets, 1).key("launches_median").fixed(m.launches, 1);
  json.key("busy_median").fixed(m.busy, 4).key("idle_us_median").fixed(us(m.idle_ns), 3);
}

void measures_json(JsonWriter& json, const Measures& m) {
  json.key("cpu_us").fixed(us(static_cast<double>(m.cpu_ns)), 3);
  json.key("gpu_us").fixed(us(static_cast<double>(m.device_ns)), 3);
  json.key("kernels").integer(m.kernels).key("memcpy").integer(m.memcpys);
  json.key("memset").integer(m.memsets).key("launches").integer(m.launches);
  json.key("busy").fixed(m.busy(), 4);
  json.key("idle_us").fixed(us(static_cast<double>(m.idle_ns())), 3);
}

void steps_json(JsonWriter& json, const StepsReport& report) {
  json.key("steps").begin_array();
  for (const Instance& step : report.steps.instances) {
    json.begin_object().key("name").string(step.name).key("cold").boolean(step.cold);
    measures_json(json, step.measures);
    json.end_object();
  }
  json.end_array().key("annotations").begin_array();
  for (const InstanceGroup& group : report.annotations) {
    json.begin_object().key("name").string(group.name);
    json.key("count").integer(static_cast<int64_t>(group.instances.size()));
    median_json(json, group);
    json.end_object();
  }
  json.end_array();
}

}  // namespace epi::report
