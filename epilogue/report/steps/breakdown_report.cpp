// SPDX-License-Identifier: Apache-2.0
#include "epilogue/report/steps/breakdown_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "epilogue/base/join.h"
#include "epilogue/report/description/described_table.h"
#include "epilogue/report/steps/diagnosis_report.h"
#include "epilogue/report/text/text.h"
#include "epilogue/report/text/units.h"
#include "epilogue/trace/event_args.h"

namespace epi::report {
namespace {

using analysis::DeviceBreakdown;
using analysis::IdleCause;
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
                        words_of(static_cast<analysis::HostActivity>(i)).phrase,
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
  row("copies and memsets, exposed", shares.exposed_copies_ns);
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
  row(words_of(IdleCause::kLaunchLatency).phrase, idle.launch_latency_ns);
  row(words_of(IdleCause::kBetweenKernels).phrase, idle.between_ns);
  row(words_of(IdleCause::kNotInTrace).phrase, idle.not_in_file_ns);
  row(words_of(IdleCause::kNoLaunch).phrase, idle.unknown_ns);
  return table;
}

std::string host_text(const IdleCauses& idle) {
  const std::string activities = activities_text(idle.host);
  return activities.empty() ? "" : "while not launched, the host: " + activities;
}

std::string idle_text(const IdleCauses& idle, const TimeShares& shares, bool cpu_kernels,
                      const Style& style) {
  if (shares.idle_ns == 0) return "";
  std::string text = "\n" + print(idle_table(idle, shares, cpu_kernels), style.markdown);
  const std::string line = host_text(idle);
  if (line.empty()) return text;
  return text + (style.markdown ? "\n" + line : indented(line, kIndent, style.width)) + '\n';
}

// The steps with a share of idle time for which the host is responsible.
struct StepRow : analysis::StepBreakdown {
  std::string title;
  double host_share = 0;
};

}  // namespace

template <>
struct Description<StepRow> {
  static constexpr const char* kName = "";
  static constexpr std::tuple kMembers = std::tuple_cat(
      std::tuple{Member{"title", "step", Unit::kNone, "", &StepRow::title},
                 Member{"host_share", "host %", Unit::kShare, "", &StepRow::host_share}},
      Description<analysis::StepBreakdown>::kMembers);
};

namespace {

std::string steps_part(const DeviceBreakdown& device, const Style& style) {
  std::vector<StepRow> rows;
  for (const auto& step : std::span(device.steps).first(std::min(device.steps.size(), kMaxSteps))) {
    rows.push_back({step, std::string(step.name) + (step.cold ? " (cold)" : ""),
                    share(step.idle.host_ns(), step.idle_ns)});
  }
  std::vector<DescribedColumn> columns = {{"title"}, {"step_us"}, {"compute_us"}};
  for (const char* optional : {"exposed_communication_us", "exposed_copies_us", "others_us"}) {
    if (has_values(rows, optional)) columns.push_back({optional});
  }
  columns.push_back({"idle_us"});
  columns.push_back({"host_share"});
  const Table table = described_table(rows, columns);
  std::string text =
      "\n" + (style.markdown ? table.markdown() : table.text(style.width, Table::Cut::kMiddle));
  if (device.steps.size() > kMaxSteps) {
    text += fmt::format("  {} more with --json\n", device.steps.size() - kMaxSteps);
  }
  return text;
}

std::string streams_part(const DeviceBreakdown& device, bool markdown) {
  if (device.streams.size() < 2) return "";
  return "\n" + print(described_table(device.streams, {{"stream"},
                                                       {"gpu_events"},
                                                       {"compute_us"},
                                                       {"communication_us", "comm."},
                                                       {"copies_us"},
                                                       {"others_us", "others run"},
                                                       {"idle_us"}}),
                      markdown);
}

Table kinds_table(const DeviceBreakdown& device) {
  return described_table(device.kinds, {{"kind"}, {"count"}, {"gpu_us"}, {"gpu_share"}});
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
    const auto rate = copy.bytes_per_ns();
    lines.push_back(fmt::format("{} x {}: {}{}", copy.count, copy.name,
                                bytes_text(static_cast<double>(copy.bytes)),
                                rate ? " at " + bandwidth_text(*rate) : ""));
  }
  return lines;
}

std::string closing_part(const DeviceBreakdown& device, const Style& style) {
  std::string text = "\n";
  for (const std::string& line : closing_lines(device)) {
    text += wrapped(line, style.line_width()) + '\n';
  }
  return text;
}

}  // namespace

BreakdownResult::BreakdownResult(const analysis::StepModels& models)
    : trace(models.index().trace),
      breakdowns(analysis::breakdown(models)),
      cpu_kernels(trace::has_cpu_kernels(trace)) {
  if (breakdowns.empty()) missing_work = analysis::missing_work(models.index());
}

std::vector<DeviceItem> BreakdownResult::devices() const {
  std::vector<DeviceItem> items;
  for (const DeviceBreakdown& device : breakdowns) items.push_back({device, trace});
  return items;
}

std::vector<GapItem> longest_gaps(const DeviceItem& item) {
  constexpr size_t kMaxGaps = 50;
  std::vector<analysis::IdleGap> gaps = item.device.gaps;
  if (gaps.size() > kMaxGaps) {
    std::nth_element(gaps.begin(), gaps.begin() + kMaxGaps, gaps.end(),
                     [](const auto& a, const auto& b) { return a.ns() > b.ns(); });
    gaps.resize(kMaxGaps);
    std::stable_sort(gaps.begin(), gaps.end(),
                     [](const auto& a, const auto& b) { return a.when.begin < b.when.begin; });
  }
  std::vector<GapItem> items;
  for (const analysis::IdleGap& gap : gaps) items.push_back({gap, item.trace});
  return items;
}

std::string text_of(const BreakdownResult& result, const Style& style) {
  if (result.breakdowns.empty()) return missing_work_text(result.missing_work) + '\n';
  std::string text;
  for (const DeviceBreakdown& device : result.breakdowns) {
    text += (text.empty() ? "" : "\n") + device_title(device, result.cpu_kernels) + "\n\n";
    text += shares_text(device.shares, style.markdown) +
            idle_text(device.idle, device.shares, result.cpu_kernels, style) +
            steps_part(device, style) + streams_part(device, style.markdown) + "\n" +
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

}  // namespace epi::report
