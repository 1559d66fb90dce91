// SPDX-License-Identifier: Apache-2.0
// Where the time of each device goes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/step/breakdown.h"
#include "epilogue/analysis/step/diagnosis.h"
#include "epilogue/report/steps/time_members.h"
#include "epilogue/report/text/style.h"
#include "epilogue/report/text/table.h"

namespace epi::report {

struct BreakdownResult {
  explicit BreakdownResult(const analysis::StepModels& models);

  const trace::Trace& trace;
  std::vector<analysis::DeviceBreakdown> breakdowns;
  bool cpu_kernels = false;            // the device is the kernel lane of our CPU backend
  analysis::MissingWork missing_work;  // if there are none

  std::vector<struct DeviceItem> devices() const;
};
std::string text_of(const BreakdownResult& result, const Style& style);

// "GPU 0: 1.234 ms from the first to the last event"
std::string device_title(const analysis::DeviceBreakdown& device, bool cpu_kernels);
// A table of the breakdown, and the lines below it; empty if there are none.
struct BreakdownPart {
  Table table;
  std::string below;
};
// The parts for all steps and streams together: time, idle time by cause, kinds of kernels.
std::vector<BreakdownPart> breakdown_parts(const analysis::DeviceBreakdown& device,
                                           bool cpu_kernels);

struct DeviceItem {
  const analysis::DeviceBreakdown& device;
  const trace::Trace& trace;

  const analysis::TimeShares& shares() const { return device.shares; }
};
// One of the longest idle intervals.
struct GapItem {
  analysis::IdleGap gap;
  const trace::Trace& trace;

  std::optional<std::string_view> name_of(trace::EventId event) const {
    return event == trace::kNoEvent ? std::nullopt : std::optional(trace.name_of(event));
  }
};
std::vector<GapItem> longest_gaps(const DeviceItem& item);

template <>
struct Description<GapItem> {
  using Item = GapItem;
  static constexpr const char* kName = "gap";
  static constexpr std::tuple kMembers{
      Member{"ts_us", "at", Unit::kNanoseconds, "its start in the trace",
             [](const Item& one) { return one.gap.when.begin; }},
      Member{"dur_us", "takes", Unit::kNanoseconds, "its length",
             [](const Item& one) { return one.gap.ns(); }},
      Member{"cause", "cause", Unit::kNone, "what the work after it waited for",
             [](const Item& one) { return one.gap.cause; }},
      Member{"activity", "host", Unit::kNone, "what the host did, if it had not launched the work",
             [](const Item& one) {
               return one.gap.cause == analysis::IdleCause::kNotLaunched
                          ? std::optional(one.gap.activity)
                          : std::nullopt;
             }},
      Member{"next_work", "before", Unit::kNone, "the work after it",
             [](const Item& one) { return one.name_of(one.gap.waiting); }},
      Member{"host_event", "in", Unit::kNone, "the innermost host event, or the launch",
             [](const Item& one) { return one.name_of(one.gap.host); }}};
};

template <>
struct Description<analysis::StepBreakdown> {
  using Step = analysis::StepBreakdown;
  static constexpr const char* kName = "step_times";
  static constexpr std::tuple kMembers = std::tuple_cat(
      std::tuple{
          Member{"name", "step", Unit::kNone, "the step", &Step::name},
          Member{"cold", "cold", Unit::kNone, "took more than twice the median", &Step::cold},
          Member{"step_us", "time", Unit::kNanoseconds, "step time", &Step::window_ns}},
      Description<analysis::TimeShares>::kMembers,
      std::tuple{Member{"idle", "idle", Unit::kNone, "idle time by cause", &Step::idle}});
};

template <>
struct Description<analysis::StreamBreakdown> {
  using Stream = analysis::StreamBreakdown;
  static constexpr const char* kName = "stream";
  static constexpr std::tuple kMembers = std::tuple_cat(
      std::tuple{
          Member{"stream", "stream", Unit::kNumber, "its number", &Stream::stream},
          Member{"gpu_events", "events", Unit::kCount, "its GPU events", &Stream::gpu_events}},
      Description<analysis::TimeShares>::kMembers);
};

template <>
struct Description<analysis::KindTime> {
  using Kind = analysis::KindTime;
  static constexpr const char* kName = "kind";
  static constexpr std::tuple kMembers{
      Member{"kind", "kind", Unit::kNone, "the kind of kernel; null if unknown",
             [](const Kind& one) {
               return one.kind.empty() ? std::nullopt : std::optional(one.kind);
             }},
      Member{"count", "count", Unit::kCount, "GPU events of this kind", &Kind::count},
      Member{"gpu_us", "time", Unit::kNanoseconds, "sum of their durations", &Kind::ns},
      Member{"gpu_share", "of GPU time", Unit::kShare, "as a share of all GPU events",
             &Kind::share}};
};

template <>
struct Description<analysis::CopyTime> {
  using Copy = analysis::CopyTime;
  static constexpr const char* kName = "copy";
  static constexpr std::tuple kMembers{
      Member{"name", "copy", Unit::kNone, "its name", &Copy::name},
      Member{"count", "count", Unit::kCount, "number of copies", &Copy::count},
      Member{"bytes", "bytes", Unit::kBytes, "bytes copied", &Copy::bytes},
      Member{"gpu_us", "time", Unit::kNanoseconds, "sum of their durations", &Copy::ns},
      Member{"gb_per_s", "rate", Unit::kBytesPerNs, "bytes over time", &Copy::bytes_per_ns}};
};

template <>
struct Description<DeviceItem> {
  using Item = DeviceItem;
  static constexpr const char* kName = "device";
  static constexpr std::tuple kMembers = std::tuple_cat(
      std::tuple{
          Member{"device", "device", Unit::kNumber, "its number",
                 [](const Item& one) { return one.device.device; }},
          Member{"window_us", "window", Unit::kNanoseconds, "from its first GPU event to its last",
                 [](const Item& one) { return one.device.shares.window_ns; }}},
      members_of<&DeviceItem::shares>(Description<analysis::TimeShares>::kMembers),
      std::tuple{
          Member{"idle", "idle", Unit::kNone, "idle time by cause",
                 [](const Item& one) -> auto& { return one.device.idle; }},
          Member{"steps", "steps", Unit::kNone, "every step",
                 [](const Item& one) -> auto& { return one.device.steps; }},
          Member{"gap_count", "gaps", Unit::kCount, "number of idle intervals with one cause",
                 [](const Item& one) { return one.device.gaps.size(); }},
          Member{"gaps", "gaps", Unit::kNone, "the longest of them, in order of time",
                 &longest_gaps},
          Member{"streams", "streams", Unit::kNone, "every stream",
                 [](const Item& one) -> auto& { return one.device.streams; }},
          Member{"kinds", "kinds", Unit::kNone, "GPU events by kind, the longest first",
                 [](const Item& one) -> auto& { return one.device.kinds; }},
          Member{"copies", "copies", Unit::kNone, "copies by name",
                 [](const Item& one) -> auto& { return one.device.copies; }},
          Member{"launches", "launches", Unit::kCount, "launches with GPU work",
                 [](const Item& one) { return one.device.launches.launches; }},
          Member{"launch_delay_us_median", "launch delay", Unit::kNanoseconds,
                 "from the start of a launch to the start of its work",
                 [](const Item& one) { return one.device.launches.delay_median_ns; }},
          Member{"launch_delay_us_p90", "launch delay, p90", Unit::kNanoseconds,
                 "the same, exceeded by one in ten",
                 [](const Item& one) { return one.device.launches.delay_p90_ns; }},
          Member{"queue_depth_median", "queue", Unit::kCount,
                 "work that was launched and not started at the time of a launch",
                 [](const Item& one) { return one.device.launches.queue_median; }},
          Member{"queue_depth_max", "longest queue", Unit::kCount, "the largest queue depth",
                 [](const Item& one) { return one.device.launches.queue_max; }},
          Member{"kernels", "kernels", Unit::kCount, "number of kernels",
                 [](const Item& one) { return one.device.kernels; }},
          Member{"short_kernels", "short kernels", Unit::kCount, "kernels shorter than 5 us",
                 [](const Item& one) { return one.device.short_kernels; }},
          Member{"short_kernels_us", "short kernels", Unit::kNanoseconds, "sum of their durations",
                 [](const Item& one) { return one.device.short_ns; }}});
};

template <>
struct Description<BreakdownResult> {
  static constexpr const char* kName = "breakdown";
  static constexpr std::tuple kMembers{Member{
      "devices", "devices", Unit::kNone, "every device with GPU work", &BreakdownResult::devices}};
};

}  // namespace epi::report
