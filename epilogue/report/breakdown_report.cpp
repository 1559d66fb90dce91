// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/breakdown_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "epilogue/base/join.h"
#include "epilogue/report/diagnosis_report.h"
#include "epilogue/report/table.h"
#include "epilogue/report/text.h"
#include "epilogue/report/units.h"
#include "epilogue/report/words.h"

namespace epi::report {
namespace {

using analysis::DeviceBreakdown;
using analysis::IdleCauses;
using analysis::TimeShares;

constexpr size_t kMaxSteps = 20;
constexpr size_t kIndent = 2;

std::string time_or_dash(int64_t ns) { return ns == 0 ? "-" : time_text(static_cast<double>(ns)); }

double share(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string percent(int64_t part, int64_t whole) {
  return fmt::format("{:.1f} %", 100 * share(part, whole));
}

std::string print(const Table& table, bool markdown) {
  return markdown ? table.markdown() : table.text();
}

// "dispatch 200.1 us, between ops 120.3 us", the longest first.
std::string activities_text(const analysis::ActivityTimes& times) {
  std::vector<size_t> order;
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return times[a] > times[b]; });
  std::string text;
  for (const size_t i : order) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ",
                        phrase_of(static_cast<analysis::HostActivity>(i)),
                        time_text(static_cast<double>(times[i])));
  }
  return text;
}

Table shares_table(const TimeShares& shares) {
  Table table({{"", Align::kLeft}, {"time", Align::kRight}, {"share", Align::kRight}});
  const auto row = [&](const char* what, int64_t ns) {
    table.add_row({what, time_or_dash(ns), percent(ns, shares.window_ns)});
  };
  row("compute", shares.compute_ns);
  row("communication, exposed", shares.exposed_communication_ns);
  row("copies and memsets, exposed", shares.exposed_memory_ns);
  row("idle", shares.idle_ns);
  return table;
}

std::string overlap_text(const TimeShares& shares) {
  if (shares.communication_ns == 0) return "";
  const int64_t hidden = shares.communication_ns - shares.exposed_communication_ns;
  return fmt::format("communication: {}, {} of it overlapped with compute",
                     time_text(static_cast<double>(shares.communication_ns)),
                     percent(hidden, shares.communication_ns));
}

std::string shares_text(const TimeShares& shares, bool markdown) {
  const std::string overlap = overlap_text(shares);
  return print(shares_table(shares), markdown) +
         (overlap.empty() ? "" : (markdown ? "\n" : "") + overlap + '\n');
}

Table idle_table(const IdleCauses& idle, const TimeShares& shares, bool cpu_kernels) {
  Table table({{cpu_kernels ? "why no kernel ran" : "why the GPU was idle", Align::kLeft},
               {"time", Align::kRight},
               {"of idle", Align::kRight}});
  const auto row = [&](const char* what, int64_t ns) {
    if (ns > 0) table.add_row({what, time_or_dash(ns), percent(ns, shares.idle_ns)});
  };
  row(cpu_kernels ? "next kernel not called yet" : "next work not launched yet", idle.host_ns());
  row(phrase_of(analysis::IdleCause::kLaunchLatency), idle.launch_latency_ns);
  row(phrase_of(analysis::IdleCause::kBetweenKernels), idle.between_ns);
  row(phrase_of(analysis::IdleCause::kNotInFile), idle.not_in_file_ns);
  row(phrase_of(analysis::IdleCause::kNoLaunch), idle.unknown_ns);
  return table;
}

std::string host_text(const IdleCauses& idle) {
  const std::string activities = activities_text(idle.host);
  return activities.empty() ? "" : "while not launched, the host: " + activities;
}

std::string idle_text(const IdleCauses& idle, const TimeShares& shares,
                      const BreakdownStyle& style) {
  if (shares.idle_ns == 0) return "";
  std::string text = "\n" + print(idle_table(idle, shares, style.cpu_kernels), style.markdown);
  const std::string line = host_text(idle);
  if (line.empty()) return text;
  return text + (style.markdown ? "\n" + line : indented(line, kIndent, style.width)) + '\n';
}

// A column of the table of steps. An optional one is left out if all of its times are zero.
struct StepColumn {
  const char* title;
  int64_t (*ns)(const analysis::StepBreakdown&);
  bool optional = false;
};

constexpr StepColumn kStepColumns[] = {
    {"window", [](const auto& step) { return step.shares.window_ns; }},
    {"compute", [](const auto& step) { return step.shares.compute_ns; }},
    {"comm.", [](const auto& step) { return step.shares.exposed_communication_ns; }, true},
    {"copies", [](const auto& step) { return step.shares.exposed_memory_ns; }, true},
    {"others", [](const auto& step) { return step.idle.other_steps_ns; }, true},
    // Time in which work of other steps, or of no step, runs is not idle time.
    {"idle", [](const auto& step) { return step.shares.idle_ns - step.idle.other_steps_ns; }},
};

std::string steps_part(const DeviceBreakdown& device, const BreakdownStyle& style) {
  const size_t shown = std::min(device.steps.size(), kMaxSteps);
  const auto steps = std::span(device.steps).first(shown);
  std::vector<StepColumn> columns;
  for (const StepColumn& column : kStepColumns) {
    const auto is_set = [&](const auto& step) { return column.ns(step) != 0; };
    const bool needed = !column.optional || std::any_of(steps.begin(), steps.end(), is_set);
    if (needed) columns.push_back(column);
  }
  std::vector<Table::Column> titles = {{"step", Align::kLeft}};
  for (const StepColumn& column : columns) titles.push_back({column.title, Align::kRight});
  titles.push_back({"host %", Align::kRight});
  Table table(titles);
  for (const auto& step : steps) {
    std::vector<std::string> cells = {step.name + (step.cold ? " (cold)" : "")};
    for (const StepColumn& column : columns) cells.push_back(time_or_dash(column.ns(step)));
    cells.push_back(percent(step.idle.host_ns(), step.shares.idle_ns - step.idle.other_steps_ns));
    table.add_row(std::move(cells));
  }
  std::string text =
      "\n" + (style.markdown ? table.markdown() : table.text(style.width, Table::Cut::kMiddle));
  if (device.steps.size() > kMaxSteps) {
    text += fmt::format("  {} more with --json\n", device.steps.size() - kMaxSteps);
  }
  return text;
}

std::string streams_part(const DeviceBreakdown& device, bool markdown) {
  if (device.streams.size() < 2) return "";
  Table table({{"stream", Align::kLeft},
               {"events", Align::kRight},
               {"compute", Align::kRight},
               {"comm.", Align::kRight},
               {"copies", Align::kRight},
               {"idle", Align::kRight},
               {"others run", Align::kRight}});
  for (const auto& stream : device.streams) {
    table.add_row({fmt::format("{}", stream.stream), fmt::format("{}", stream.gpu_events),
                   time_or_dash(stream.shares.compute_ns),
                   time_or_dash(stream.shares.communication_ns),
                   time_or_dash(stream.shares.memory_ns), time_or_dash(stream.shares.idle_ns),
                   time_or_dash(stream.idle.other_streams_ns)});
  }
  return "\n" + print(table, markdown);
}

Table kinds_table(const DeviceBreakdown& device) {
  int64_t total = 0;
  for (const auto& kind : device.kinds) total += kind.ns;
  Table table({{"kind", Align::kLeft},
               {"count", Align::kRight},
               {"time", Align::kRight},
               {"of GPU time", Align::kRight}});
  for (const auto& kind : device.kinds) {
    table.add_row({kind.kind.empty() ? "unknown" : kind.kind, fmt::format("{}", kind.count),
                   time_or_dash(kind.ns), percent(kind.ns, total)});
  }
  return table;
}

// "2395 of 4605 kernels are shorter than 5 us, 7.146 ms in total"
std::string short_kernels_text(const DeviceBreakdown& device) {
  const std::string all = plural(static_cast<double>(device.kernels), "kernel");
  if (device.kernels == 0) return "";
  if (device.short_kernels == 0) {
    return fmt::format("{}, none shorter than {:.0f} us", all, analysis::kShortNs / 1e3);
  }
  return fmt::format("{} of {} {} shorter than {:.0f} us, {} in total", device.short_kernels, all,
                     device.short_kernels == 1 ? "is" : "are", analysis::kShortNs / 1e3,
                     time_text(static_cast<double>(device.short_ns)));
}

// Launches, short kernels and copies, one line each.
std::vector<std::string> closing_lines(const DeviceBreakdown& device) {
  std::vector<std::string> lines;
  const auto& launches = device.launches;
  if (launches.launches > 0) {
    lines.push_back(
        fmt::format("launch to start: median {}, p90 {}; queue depth at launch: median "
                    "{}, max {}",
                    time_text(static_cast<double>(launches.delay_median_ns)),
                    time_text(static_cast<double>(launches.delay_p90_ns)), launches.queue_median,
                    launches.queue_max));
  }
  const std::string short_kernels = short_kernels_text(device);
  if (!short_kernels.empty()) lines.push_back(short_kernels);
  for (const auto& copy : device.copies) {
    const auto bytes = static_cast<double>(copy.bytes);
    lines.push_back(fmt::format(
        "{} x {}: {}{}", copy.count, copy.name, bytes_text(bytes),
        copy.ns > 0 ? " at " + bandwidth_text(bytes / static_cast<double>(copy.ns)) : ""));
  }
  return lines;
}

std::string closing_part(const DeviceBreakdown& device, const BreakdownStyle& style) {
  std::string text = "\n";
  for (const std::string& line : closing_lines(device)) {
    text += wrapped(line, style.markdown ? SIZE_MAX / 2 : style.width) + '\n';
  }
  return text;
}

void shares_json(JsonWriter& json, const TimeShares& shares) {
  const auto us = [&](const char* key, int64_t ns) {
    json.key(key).fixed(static_cast<double>(ns) / 1000, 3);
  };
  us("window_us", shares.window_ns);
  us("busy_us", shares.busy_ns());
  us("compute_us", shares.compute_ns);
  us("communication_us", shares.communication_ns);
  us("exposed_communication_us", shares.exposed_communication_ns);
  us("memory_us", shares.memory_ns);
  us("exposed_memory_us", shares.exposed_memory_ns);
  us("idle_us", shares.idle_ns);
}

void idle_json(JsonWriter& json, const IdleCauses& idle) {
  const auto us = [&](const std::string& key, int64_t ns) {
    json.key(key).fixed(static_cast<double>(ns) / 1000, 3);
  };
  json.key("idle").begin_object();
  us("not_launched_us", idle.host_ns());
  json.key("cpu").begin_object();
  for (size_t i = 0; i < idle.host.size(); ++i) {
    std::string key = text_of(static_cast<analysis::HostActivity>(i));
    std::replace(key.begin(), key.end(), ' ', '_');
    us(key + "_us", idle.host[i]);
  }
  const auto of = [&](analysis::HostActivity activity) {
    return idle.host[static_cast<size_t>(activity)];
  };
  us("runtime_calls_us", of(analysis::HostActivity::kLaunching) +
                             of(analysis::HostActivity::kAllocating) +
                             of(analysis::HostActivity::kInitializing));
  json.end_object();
  us("on_its_way_us", idle.launch_latency_ns);
  us("between_kernels_us", idle.between_ns);
  us("other_streams_us", idle.other_streams_ns);
  us("other_steps_us", idle.other_steps_ns);
  us("not_in_file_us", idle.not_in_file_ns);
  us("unknown_us", idle.unknown_ns);
  json.end_object();
}

// Writes the longest gaps, in order of time.
void gaps_json(JsonWriter& json, const DeviceBreakdown& device, const trace::Trace& trace) {
  constexpr size_t kMaxGaps = 50;
  const auto ns = [](const analysis::IdleGap& gap) { return gap.when.end - gap.when.begin; };
  std::vector<analysis::IdleGap> gaps = device.gaps;
  if (gaps.size() > kMaxGaps) {
    std::nth_element(gaps.begin(), gaps.begin() + kMaxGaps, gaps.end(),
                     [&](const auto& a, const auto& b) { return ns(a) > ns(b); });
    gaps.resize(kMaxGaps);
    std::stable_sort(gaps.begin(), gaps.end(),
                     [](const auto& a, const auto& b) { return a.when.begin < b.when.begin; });
  }
  const auto name = [&](const char* key, trace::EventId id) {
    json.key(key);
    id == trace::kNoEvent ? json.null() : json.string(trace.name_of(id));
  };
  json.key("gap_count").integer(static_cast<int64_t>(device.gaps.size()));
  json.key("gaps").begin_array();
  for (const auto& gap : gaps) {
    json.begin_object().key("ts_us").fixed(static_cast<double>(gap.when.begin) / 1000, 3);
    json.key("dur_us").fixed(static_cast<double>(ns(gap)) / 1000, 3);
    json.key("cause").string(text_of(gap.cause)).key("cpu");
    gap.cause == analysis::IdleCause::kNotLaunched ? json.string(text_of(gap.activity))
                                                   : json.null();
    name("waiting", gap.waiting);
    name("host", gap.host);
    json.end_object();
  }
  json.end_array();
}

void device_json(JsonWriter& json, const DeviceBreakdown& device, const trace::Trace& trace) {
  json.begin_object().key("device").integer(device.device);
  shares_json(json, device.shares);
  idle_json(json, device.idle);
  json.key("steps").begin_array();
  for (const auto& step : device.steps) {
    json.begin_object().key("name").string(step.name).key("cold").boolean(step.cold);
    shares_json(json, step.shares);
    idle_json(json, step.idle);
    json.end_object();
  }
  json.end_array();
  gaps_json(json, device, trace);
  json.key("streams").begin_array();
  for (const auto& stream : device.streams) {
    json.begin_object()
        .key("stream")
        .integer(stream.stream)
        .key("works")
        .integer(stream.gpu_events);
    shares_json(json, stream.shares);
    idle_json(json, stream.idle);
    json.end_object();
  }
  json.end_array().key("kinds").begin_array();
  for (const auto& kind : device.kinds) {
    json.begin_object().key("kind");
    kind.kind.empty() ? json.null() : json.string(kind.kind);
    json.key("count").integer(kind.count);
    json.key("us").fixed(static_cast<double>(kind.ns) / 1000, 3).end_object();
  }
  json.end_array().key("copies").begin_array();
  for (const auto& copy : device.copies) {
    json.begin_object().key("name").string(copy.name).key("count").integer(copy.count);
    json.key("bytes").integer(copy.bytes);
    json.key("us").fixed(static_cast<double>(copy.ns) / 1000, 3).end_object();
  }
  const auto& launches = device.launches;
  json.end_array().key("launches").integer(launches.launches);
  json.key("launch_delay_median_us").fixed(static_cast<double>(launches.delay_median_ns) / 1000, 3);
  json.key("launch_delay_p90_us").fixed(static_cast<double>(launches.delay_p90_ns) / 1000, 3);
  json.key("queue_median").integer(launches.queue_median);
  json.key("queue_most").integer(launches.queue_max);
  json.key("kernels").integer(device.kernels);
  json.key("short_kernels").integer(device.short_kernels);
  json.key("short_us").fixed(static_cast<double>(device.short_ns) / 1000, 3).end_object();
}

}  // namespace

std::string breakdown_text(const std::vector<DeviceBreakdown>& devices,
                           const BreakdownStyle& style) {
  if (devices.empty()) return std::string(kCpuOnly) + '\n';
  std::string text;
  for (const DeviceBreakdown& device : devices) {
    text += (text.empty() ? "" : "\n") + device_title(device, style.cpu_kernels) + "\n\n";
    text += shares_text(device.shares, style.markdown) +
            idle_text(device.idle, device.shares, style) + steps_part(device, style) +
            streams_part(device, style.markdown) + "\n" +
            print(kinds_table(device), style.markdown) + closing_part(device, style);
  }
  return text;
}

std::string device_title(const DeviceBreakdown& device, bool cpu_kernels) {
  return fmt::format("{}: {} from the first to the last event",
                     cpu_kernels ? "CPU kernels" : fmt::format("GPU {}", device.device),
                     time_text(static_cast<double>(device.shares.window_ns)));
}

std::vector<BreakdownPart> breakdown_parts(const DeviceBreakdown& device, bool cpu_kernels) {
  std::vector<BreakdownPart> parts;
  parts.push_back({shares_table(device.shares), overlap_text(device.shares)});
  if (device.shares.idle_ns > 0) {
    parts.push_back({idle_table(device.idle, device.shares, cpu_kernels), host_text(device.idle)});
  }
  parts.push_back({kinds_table(device), join(closing_lines(device), "\n")});
  return parts;
}

void breakdown_json(JsonWriter& json, const std::vector<DeviceBreakdown>& devices,
                    const trace::Trace& trace) {
  json.key("devices").begin_array();
  for (const DeviceBreakdown& device : devices) device_json(json, device, trace);
  json.end_array();
}

}  // namespace epi::report
