// SPDX-License-Identifier: Apache-2.0
// State shared by all step graphs: device work in order, stream dependencies, windows.
#include <algorithm>
#include <bit>
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

StepGraphs::StepGraphs(const TraceIndex& index, const HostTimeline& host)
    : index_(index), host_(host), peaks_(gpu_peaks(device_name(index.trace))) {
  const auto all = index.ownership.everything().work;
  work_.assign(all.begin(), all.end());
  std::stable_sort(work_.begin(), work_.end(), [&](EventId a, EventId b) {
    return index_.trace.ts_ns[a] < index_.trace.ts_ns[b];
  });
  latest_end_ = latest_ends();
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

std::vector<int64_t> StepGraphs::latest_ends() const {
  const size_t leaves = std::bit_ceil(std::max<size_t>(work_.size(), 1));
  std::vector<int64_t> tree(2 * leaves, INT64_MIN);
  for (size_t i = 0; i < work_.size(); ++i) tree[leaves + i] = index_.trace.end_ns(work_[i]);
  for (size_t node = leaves - 1; node > 0; --node) {
    tree[node] = std::max(tree[2 * node], tree[2 * node + 1]);
  }
  return tree;
}

std::vector<EventId> StepGraphs::work_in(const Interval& window) const {
  const auto before_end = std::partition_point(
      work_.begin(), work_.end(), [&](EventId id) { return index_.trace.ts_ns[id] <= window.end; });
  const auto count = static_cast<size_t>(before_end - work_.begin());
  const size_t leaves = latest_end_.size() / 2;
  std::vector<EventId> result;
  // Visits the subtrees with work that ends after the start of the window, from the left.
  std::vector<size_t> open = {1};
  while (!open.empty()) {
    const size_t node = open.back();
    open.pop_back();
    if (latest_end_[node] <= window.begin) continue;
    if (node < leaves) {
      open.push_back(2 * node + 1);
      open.push_back(2 * node);
    } else if (node - leaves < count) {
      result.push_back(work_[node - leaves]);
    } else {
      break;
    }
  }
  return result;
}

std::vector<PathPart> StepGraphs::refined(std::vector<PathPart> path) const {
  for (PathPart& part : path) {
    if (part.bound == Bound::kCompute) {
      part.bound = bound_of_work(index_, part.event, peaks_);
      part.is_measured = kernel_rate(index_, part.event, peaks_).is_compute_bound().has_value();
    }
  }
  return path;
}

}  // namespace epi::analysis
