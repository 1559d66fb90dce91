// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>

#include "epilogue/trace/event_args.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;

// Number of cells per level over the whole time. The second level matches one screen.
constexpr std::array<int64_t, 4> kCells{512, 4096, 32768, 262144};

// In the order of the timeline.
enum class LaneKind : uint8_t { kDevice, kHost, kPython };

bool is_shown(const trace::Trace& trace, EventId id) {
  const Category category = trace.category[id];
  return trace.is_span(id) && (trace::is_host(category) || trace::is_device_work(category) ||
                               category == Category::kPythonFunction);
}

LaneKind kind_of(const trace::Trace& trace, EventId id) {
  if (trace::is_device_work(trace.category[id])) return LaneKind::kDevice;
  return trace.category[id] == Category::kPythonFunction ? LaneKind::kPython : LaneKind::kHost;
}

std::string lane_name(const trace::Lane& lane, LaneKind kind, bool cpu_kernels) {
  const std::string tid = lane.tid_text.empty() ? fmt::format("{}", lane.tid) : lane.tid_text;
  switch (kind) {
    case LaneKind::kDevice:
      if (cpu_kernels) return "kernels";
      return fmt::format("GPU {} {}{}", lane.pid, tid.starts_with("stream") ? "" : "stream ", tid);
    case LaneKind::kPython:
      return fmt::format("Python {}", tid);
    case LaneKind::kHost:
      return fmt::format("thread {}", tid);
  }
  return {};
}

struct PlacedEvent {
  EventId id;
  size_t row;
};

// The events of one thread or stream.
struct PlacedLane {
  LaneKind kind = LaneKind::kHost;
  trace::LaneId lane = 0;
  std::vector<PlacedEvent> events;  // by start, longer first
  int64_t ns = 0;                   // sum of the events
};

// Puts each event into the first free row. Nested events end up below their parents.
void place(const trace::Trace& trace, std::vector<PlacedEvent>& events) {
  std::stable_sort(events.begin(), events.end(), [&](const PlacedEvent& a, const PlacedEvent& b) {
    return std::tuple(trace.ts_ns[a.id], -trace.dur_ns[a.id]) <
           std::tuple(trace.ts_ns[b.id], -trace.dur_ns[b.id]);
  });
  std::array<int64_t, kTimelineRows> free_from;
  free_from.fill(INT64_MIN);
  for (PlacedEvent& event : events) {
    const auto is_free = [&](int64_t from) { return from <= trace.ts_ns[event.id]; };
    const auto found = std::find_if(free_from.begin(), free_from.end(), is_free);
    event.row = static_cast<size_t>(found - free_from.begin());
    if (found != free_from.end()) *found = trace.end_ns(event.id);
  }
}

// All lanes. Their events are not placed yet.
std::vector<PlacedLane> all_lanes(const trace::Trace& trace, Timeline& timeline) {
  std::map<std::pair<LaneKind, trace::LaneId>, PlacedLane> lanes;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!is_shown(trace, id)) continue;
    const LaneKind kind = kind_of(trace, id);
    PlacedLane& lane = lanes.try_emplace({kind, trace.lane[id]}).first->second;
    lane.kind = kind;
    lane.lane = trace.lane[id];
    lane.events.push_back({id, 0});
    lane.ns += trace.dur_ns[id];
    timeline.begin_ns = std::min(timeline.begin_ns, trace.ts_ns[id]);
    timeline.end_ns = std::max(timeline.end_ns, trace.end_ns(id));
  }
  std::vector<PlacedLane> all;
  for (auto& [key, lane] : lanes) all.push_back(std::move(lane));
  // Streams stay in the order of their numbers, threads are sorted by their time.
  std::stable_sort(all.begin(), all.end(), [](const PlacedLane& a, const PlacedLane& b) {
    const auto order = [](const PlacedLane& lane) {
      return std::pair(lane.kind, lane.kind == LaneKind::kDevice ? 0 : -lane.ns);
    };
    return order(a) < order(b);
  });
  return all;
}

// Which lanes the timeline has: those with the most time.
std::vector<bool> busiest(const trace::Trace& trace, const std::vector<PlacedLane>& lanes) {
  std::vector<size_t> order(lanes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lanes[a].ns > lanes[b].ns; });
  std::map<LaneKind, size_t> of_kind;
  std::map<int64_t, size_t> of_device;
  std::vector<bool> kept(lanes.size());
  for (const size_t i : order) {
    const bool is_device = lanes[i].kind == LaneKind::kDevice;
    size_t& streams = of_device[is_device ? trace.lanes[lanes[i].lane].pid : 0];
    size_t& all = of_kind[lanes[i].kind];
    kept[i] = all < kMaxTimelineLanes && (!is_device || streams < kMaxStreamsPerDevice);
    if (!kept[i]) continue;
    ++all;
    if (is_device) ++streams;
  }
  return kept;
}

// The lanes that are drawn. Counts the others.
std::vector<PlacedLane> placed_lanes(const trace::Trace& trace, Timeline& timeline) {
  std::vector<PlacedLane> lanes = all_lanes(trace, timeline);
  const std::vector<bool> kept = busiest(trace, lanes);
  std::vector<PlacedLane> placed;
  for (size_t i = 0; i < lanes.size(); ++i) {
    const bool is_device = lanes[i].kind == LaneKind::kDevice;
    if (is_device) timeline.stream_ns += lanes[i].ns;
    if (kept[i]) {
      place(trace, lanes[i].events);
      placed.push_back(std::move(lanes[i]));
    } else if (is_device) {
      ++timeline.streams_left_out;
      timeline.left_out_stream_ns += lanes[i].ns;
    } else {
      ++timeline.threads_left_out;
    }
  }
  return placed;
}

// Selects the events that are drawn individually: the longest device work with its launch chain, so
// that an operator shows its kernels, then the longest of the rest.
class KeptEvents {
 public:
  KeptEvents(const TraceIndex& index, const std::vector<PlacedLane>& lanes, size_t most)
      : index_(index), most_(most), is_kept_(index.trace.size()) {
    std::vector<EventId> all;
    std::vector<EventId> work;
    for (const PlacedLane& lane : lanes) {
      for (const PlacedEvent& event : lane.events) {
        all.push_back(event.id);
        if (lane.kind == LaneKind::kDevice) work.push_back(event.id);
      }
    }
    const size_t max_in_chains = all.size() <= most ? 0 : most / 4 * 3;
    for (const EventId id : longest(std::move(work))) {
      if (count_ >= max_in_chains) break;
      keep_chain(id);
    }
    for (const EventId id : longest(std::move(all))) {
      if (count_ >= most) break;
      keep(id);
    }
  }

  bool operator[](EventId id) const { return is_kept_[id]; }

 private:
  // The longest events first, at most `most_` of them.
  std::vector<EventId> longest(std::vector<EventId> events) const {
    const auto longer = [&](EventId a, EventId b) {
      return std::tuple(-index_.trace.dur_ns[a], a) < std::tuple(-index_.trace.dur_ns[b], b);
    };
    const auto last = events.begin() + static_cast<std::ptrdiff_t>(std::min(most_, events.size()));
    std::nth_element(events.begin(), last, events.end(), longer);
    events.erase(last, events.end());
    std::sort(events.begin(), events.end(), longer);
    return events;
  }

  void keep(EventId id) {
    count_ += is_kept_[id] ? 0 : 1;
    is_kept_[id] = true;
  }

  void keep_chain(EventId work) {
    keep(work);
    const trace::Links& links = index_.links;
    const EventId launch = links.launch[work];
    EventId id = launch != trace::kNoEvent ? launch : links.op[work];
    for (; id != trace::kNoEvent && !is_kept_[id]; id = links.tree.parent[id]) keep(id);
  }

  const TraceIndex& index_;
  size_t most_;
  std::vector<bool> is_kept_;
  size_t count_ = 0;
};

void keep_events(const PlacedLane& placed, const KeptEvents& kept, TimelineLane& lane,
                 Timeline& timeline) {
  for (const auto [id, row] : placed.events) {
    if (row >= kTimelineRows) {
      ++timeline.too_deep;
    } else if (kept[id]) {
      lane.events.push_back(id);
      lane.rows.push_back(static_cast<uint8_t>(row));
    } else {
      ++timeline.left_out;
    }
  }
}

// Short events join a span that starts less than a cell before them, so a row has at most two spans
// per cell.
std::vector<TimelineRow> level_of(const trace::Trace& trace, const PlacedLane& lane,
                                  int64_t cell_ns) {
  std::vector<TimelineRow> rows;
  for (const auto [id, at] : lane.events) {
    if (at >= kTimelineRows) continue;
    if (rows.size() <= at) rows.resize(at + 1);
    TimelineRow& row = rows[at];
    const int64_t ns = trace.dur_ns[id];
    const bool joins = !row.empty() && ns < cell_ns && trace.dur_ns[row.back().longest] < cell_ns &&
                       trace.ts_ns[id] < row.back().begin_ns + cell_ns;
    if (!joins) row.push_back({trace.ts_ns[id], trace.end_ns(id), 0, 0, id});
    TimelineSpan& span = row.back();
    span.end_ns = trace.end_ns(id);
    span.busy_ns += ns;
    ++span.count;
    if (ns > trace.dur_ns[span.longest]) span.longest = id;
  }
  return rows;
}

// Adds levels while they fit into `most` spans and are coarser than the events themselves.
void add_levels(const trace::Trace& trace, const std::vector<PlacedLane>& placed, size_t most,
                Timeline& timeline) {
  size_t events = 0;
  for (const PlacedLane& lane : placed) events += lane.events.size();
  size_t left = most;
  for (const int64_t cells : kCells) {
    const int64_t cell_ns = (timeline.end_ns - timeline.begin_ns) / cells;
    std::vector<std::vector<TimelineRow>> level;
    size_t spans = 0;
    for (const PlacedLane& lane : placed) {
      level.push_back(level_of(trace, lane, cell_ns));
      for (const TimelineRow& row : level.back()) spans += row.size();
    }
    const bool needed = timeline.cells_ns.empty() && timeline.left_out > 0;
    if (!needed && (spans > left || 2 * spans > events)) return;
    left -= std::min(left, spans);
    timeline.cells_ns.push_back(cell_ns);
    for (size_t i = 0; i < level.size(); ++i) {
      timeline.lanes[i].levels.push_back(std::move(level[i]));
    }
  }
}

}  // namespace

Timeline make_timeline(const TraceIndex& index, size_t most) {
  const trace::Trace& trace = index.trace;
  Timeline timeline;
  timeline.begin_ns = INT64_MAX;
  timeline.end_ns = INT64_MIN;
  const std::vector<PlacedLane> placed = placed_lanes(trace, timeline);
  if (placed.empty()) return {};
  const KeptEvents kept(index, placed, most);
  const bool cpu_kernels = trace::has_cpu_kernels(trace);
  for (const PlacedLane& one : placed) {
    TimelineLane& lane = timeline.lanes.emplace_back();
    lane.is_device = one.kind == LaneKind::kDevice;
    lane.is_python = one.kind == LaneKind::kPython;
    lane.pid = trace.lanes[one.lane].pid;
    lane.name = lane_name(trace.lanes[one.lane], one.kind, cpu_kernels);
    keep_events(one, kept, lane, timeline);
  }
  add_levels(trace, placed, most, timeline);
  return timeline;
}

}  // namespace epi::analysis
