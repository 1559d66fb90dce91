// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "epilogue/trace/args.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

constexpr size_t kSlices = 1024;

enum class LaneKind : uint8_t { kHost, kDevice, kPython };

bool is_shown(const trace::Trace& trace, EventId id) {
  const Category category = trace.category[id];
  return trace.is_span(id) && (trace::is_host(category) || trace::is_device_work(category) ||
                               category == Category::kPythonFunction);
}

LaneKind kind_of(const trace::Trace& trace, EventId id) {
  if (trace::is_device_work(trace.category[id])) return LaneKind::kDevice;
  return trace.category[id] == Category::kPythonFunction ? LaneKind::kPython : LaneKind::kHost;
}

std::string lane_name(const trace::Lane& lane, LaneKind kind, bool own_kernels) {
  const std::string tid = lane.tid_text.empty() ? fmt::format("{}", lane.tid) : lane.tid_text;
  switch (kind) {
    case LaneKind::kDevice:
      return own_kernels ? "kernels" : fmt::format("GPU {} stream {}", lane.pid, tid);
    case LaneKind::kPython:
      return fmt::format("Python {}", tid);
    case LaneKind::kHost:
      return fmt::format("thread {}", tid);
  }
  return {};
}

// Events that last longer are kept, and of those as long as this the first so many.
struct Threshold {
  int64_t ns = -1;
  size_t alike = 0;
};
Threshold threshold_of(const trace::Trace& trace, const std::vector<EventId>& events, size_t most) {
  if (events.size() <= most) return {};
  std::vector<int64_t> lengths;
  for (const EventId id : events) lengths.push_back(trace.dur_ns[id]);
  const auto last = lengths.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(lengths.begin(), last, lengths.end(), std::greater<>());
  const auto longer = std::count_if(lengths.begin(), last, [&](int64_t ns) { return ns > *last; });
  return {*last, most - static_cast<size_t>(longer)};
}

void leave_out(const trace::Trace& trace, const Timeline& timeline, EventId id,
               TimelineLane& lane) {
  lane.rest.resize(kSlices);
  ++lane.left_out;
  const double length = static_cast<double>(timeline.end_ns - timeline.begin_ns) / kSlices;
  if (length <= 0) return;
  const double at = static_cast<double>(trace.ts_ns[id] - timeline.begin_ns) / length;
  const size_t slice = std::min(kSlices - 1, static_cast<size_t>(std::max(0.0, at)));
  lane.rest[slice] =
      std::min(1.0, lane.rest[slice] + static_cast<double>(trace.dur_ns[id]) / length);
}

}  // namespace

Timeline make_timeline(const Examined& examined, size_t most) {
  const trace::Trace& trace = examined.trace;
  std::vector<EventId> shown;
  Timeline timeline{INT64_MAX, INT64_MIN, {}, 0};
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!is_shown(trace, id)) continue;
    shown.push_back(id);
    timeline.begin_ns = std::min(timeline.begin_ns, trace.ts_ns[id]);
    timeline.end_ns = std::max(timeline.end_ns, trace.end_ns(id));
  }
  if (shown.empty()) return {};
  Threshold threshold = threshold_of(trace, shown, most);
  const bool own_kernels = trace::has_process(trace, "CPU kernels");
  std::map<std::pair<LaneKind, trace::LaneId>, TimelineLane> lanes;
  for (const EventId id : shown) {
    const LaneKind kind = kind_of(trace, id);
    TimelineLane& lane = lanes[{kind, trace.lane[id]}];
    lane.is_device = kind == LaneKind::kDevice;
    if (lane.name.empty()) lane.name = lane_name(trace.lanes[trace.lane[id]], kind, own_kernels);
    bool keeps = trace.dur_ns[id] > threshold.ns;
    if (trace.dur_ns[id] == threshold.ns && threshold.alike > 0) {
      keeps = true;
      --threshold.alike;
    }
    keeps ? lane.events.push_back(id) : leave_out(trace, timeline, id, lane);
  }
  for (auto& [key, lane] : lanes) {
    std::stable_sort(lane.events.begin(), lane.events.end(), [&](EventId a, EventId b) {
      return std::tuple(trace.ts_ns[a], -trace.dur_ns[a]) <
             std::tuple(trace.ts_ns[b], -trace.dur_ns[b]);
    });
    timeline.left_out += lane.left_out;
    timeline.lanes.push_back(std::move(lane));
  }
  return timeline;
}

}  // namespace epi::analysis
