// SPDX-License-Identifier: Apache-2.0
// State shared by all step graphs: device work in order, stream dependencies, windows.
#include <algorithm>
#include <map>

#include "epilogue/analysis/cost/kernel_rate.h"
#include "epilogue/analysis/index/device_name.h"
#include "epilogue/analysis/time/step_graph.h"
#include "epilogue/trace/event_args.h"
#include "epilogue/trace/number_text.h"

namespace epi::analysis {
namespace {

using trace::Category;
using trace::EventId;
using trace::kNoEvent;
using trace::LaneId;

std::optional<int64_t> number_in(const trace::Trace& trace, EventId id, std::string_view key) {
  const auto text = trace::find_value(trace.args_of(id), key);
  return text ? trace::parse_integer_token(*text) : std::nullopt;
}

}  // namespace

StepGraphs::StepGraphs(const TraceIndex& index)
    : index_(index), host_(index), peaks_(gpu_peaks(device_name(index.trace))) {
  work_ = index.ownership.everything().work;
  std::stable_sort(work_.begin(), work_.end(), [&](EventId a, EventId b) {
    return index_.trace.ts_ns[a] < index_.trace.ts_ns[b];
  });
  int64_t latest = INT64_MIN;
  for (const EventId id : work_) {
    latest = std::max(latest, index_.trace.end_ns(id));
    latest_end_.push_back(latest);
  }
  read_stream_waits();
}

void StepGraphs::read_stream_waits() {
  const trace::Trace& trace = index_.trace;
  std::unordered_map<int64_t, EventId> calls;  // by correlation
  std::vector<EventId> syncs;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (!trace.is_span(id)) continue;
    if (trace.category[id] == Category::kCudaSync) syncs.push_back(id);
  }
  if (syncs.empty()) return;
  std::map<std::pair<int64_t, int64_t>, LaneId> streams;  // by device and stream
  std::unordered_map<LaneId, std::vector<EventId>> by_launch_time;
  for (const EventId id : work_) {
    const trace::Lane& lane = trace.lanes[trace.lane[id]];
    streams[{lane.pid, lane.tid}] = trace.lane[id];
    by_launch_time[trace.lane[id]].push_back(id);
  }
  for (auto& [lane, work] : by_launch_time) {
    std::stable_sort(work.begin(), work.end(), [&](EventId a, EventId b) {
      return index_.links.launch_ns[a] < index_.links.launch_ns[b];
    });
  }
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.is_span(id) && trace::is_call(trace.category[id]) && trace.correlation[id] != 0) {
      calls.emplace(trace.correlation[id], id);
    }
  }
  for (const EventId id : syncs) {
    const auto call = calls.find(trace.correlation[id]);
    if (call == calls.end()) continue;
    const std::string_view name = trace.name_of(id);
    const auto on = number_in(trace, id, name == "Stream Sync" ? "stream" : "wait_on_stream");
    const int64_t device = number_in(trace, id, "device").value_or(0);
    const auto waits_on = on ? streams.find({device, *on}) : streams.end();
    if (waits_on == streams.end()) continue;
    if (name != "Stream Wait Event") {
      waits_for_stream_[call->second] = waits_on->second;
      continue;
    }
    const auto record = number_in(trace, id, "wait_on_cuda_event_record_corr_id");
    const auto recorded = record ? calls.find(*record) : calls.end();
    const auto own = number_in(trace, id, "stream");
    const auto stream = own ? streams.find({device, *own}) : streams.end();
    if (recorded == calls.end() || stream == streams.end()) continue;
    const auto& work = by_launch_time[waits_on->second];
    const auto after =
        std::upper_bound(work.begin(), work.end(), trace.ts_ns[recorded->second],
                         [&](int64_t ns, EventId one) { return ns < index_.links.launch_ns[one]; });
    if (after == work.begin()) continue;
    has_stream_waits_ = true;
    stream_waits_[stream->second].push_back({trace.ts_ns[call->second], *std::prev(after)});
  }
  for (auto& [lane, waits] : stream_waits_) {
    std::stable_sort(waits.begin(), waits.end(), [](const StreamWait& a, const StreamWait& b) {
      return a.launch_ns < b.launch_ns;
    });
  }
}

std::vector<EventId> StepGraphs::work_in(const Interval& window) const {
  std::vector<EventId> result;
  const auto first = std::upper_bound(latest_end_.begin(), latest_end_.end(), window.begin);
  for (auto i = static_cast<size_t>(first - latest_end_.begin()); i < work_.size(); ++i) {
    const EventId id = work_[i];
    if (index_.trace.ts_ns[id] >= window.end) break;
    if (index_.trace.end_ns(id) > window.begin) result.push_back(id);
  }
  return result;
}

std::vector<PathPart> StepGraphs::critical_path(const StepGraph& graph) const {
  std::vector<PathPart> path = graph.critical_path();
  for (PathPart& part : path) {
    if (part.bound == Bound::kCompute) {
      part.bound = bound_of_work(index_, part.event, peaks_);
      part.is_measured = kernel_rate(index_, part.event, peaks_).is_compute_bound().has_value();
    }
  }
  return path;
}

StepWindow StepGraphs::window(const Instance& instance, const Owned& owned) const {
  const trace::Trace& trace = index_.trace;
  StepWindow window{instance.begin_ns, instance.begin_ns + instance.measures.window_ns,
                    instance.end_ns, 0, owned.work};
  if (instance.event != kNoEvent) {
    window.thread = trace.lane[instance.event];
    return window;
  }
  std::unordered_map<LaneId, int64_t> launches;
  for (const EventId id : owned.launches) ++launches[trace.lane[id]];
  int64_t most = 0;
  for (const auto& [lane, count] : launches) {
    if (count > most || (count == most && lane < window.thread)) {
      most = count;
      window.thread = lane;
    }
  }
  if (most == 0) {
    // Nothing was launched: use the thread with the most events.
    size_t events = 0;
    for (LaneId lane = 0; lane < index_.lane_ranges.size(); ++lane) {
      const auto [first, last] = index_.lane_ranges[lane];
      if (last - first <= events) continue;
      events = last - first;
      window.thread = lane;
    }
  }
  // Host activity after the last work is not part of the recorded workload.
  if (!owned.work.empty()) {
    window.end_ns = window.begin_ns;
    for (const EventId id : owned.work) window.end_ns = std::max(window.end_ns, trace.end_ns(id));
    window.host_end_ns = std::clamp(host_.last_end(window.thread), window.begin_ns, window.end_ns);
  }
  return window;
}

}  // namespace epi::analysis
