// SPDX-License-Identifier: Apache-2.0
// What threads waited for: device work, a full launch queue, another thread.
#include "epilogue/analysis/time/step_graph_builder.h"

#include <algorithm>

#include "epilogue/analysis/time/idle.h"

namespace epi::analysis {
namespace {

using trace::kNoEvent;

// A launch blocks if this much work is queued.
constexpr int64_t kFullQueue = 512;
// Threads alternate if their overlap is at most this share of the shorter one's activity.
constexpr double kAlternating = 0.1;

int64_t overlap(const Intervals& a, const Intervals& b) {
  return length(a) - length(difference(a, b));
}

}  // namespace

void StepGraphs::Builder::add_thread_edges(size_t place) {
  const Thread& thread = threads_[place];
  for (size_t i = 0; i < thread.segments.size(); ++i) {
    const auto& segment = thread.segments[i];
    const Node from = thread.nodes[i];
    const Node to = thread.nodes[i + 1];
    const int64_t ns = segment.end - segment.begin;
    const int64_t event_ns = own_ns(segment);
    const auto called = cpu_kernels_.find({thread.lane, i});
    if (called != cpu_kernels_.end()) {
      const Work& last = work_[called->second.back()];
      int64_t without_ns = ns;
      for (const size_t one : called->second) without_ns -= work_[one].end - work_[one].begin;
      graph_.add_edge({last.to, to, segment.end - last.end, bound_of(segment.activity),
                       EdgeKind::kTakes, segment.event, event_ns});
      graph_.add_edge({from, to, std::max<int64_t>(0, without_ns), bound_of(segment.activity),
                       EdgeKind::kTakes, segment.event, event_ns});
      continue;
    }
    if (const Work* copy = own_copy(segment)) {
      graph_.add_edge({copy->from, to, segment.end - copy->begin, copy->bound, EdgeKind::kTakes,
                       copy->id, trace_.dur_ns[copy->id]});
      graph_.add_edge({from, to, std::min(ns, kTypicalLatencyNs), Bound::kLaunches,
                       EdgeKind::kFollows, segment.event, event_ns});
      continue;
    }
    if (const Work* work = waited_for(segment)) {
      const int64_t after = segment.end - work->end;
      const bool is_closing = closing_.contains(segment.event);
      graph_.add_edge({work->to, to, after, Bound::kSynchronizing, EdgeKind::kWaits, segment.event,
                       event_ns, false, is_closing});
      graph_.add_edge({from, to, std::min(ns, after), Bound::kSynchronizing, EdgeKind::kTakes,
                       segment.event, event_ns, false, is_closing});
      continue;
    }
    if (const auto other = handoff(place, segment)) {
      graph_.add_edge({other->from, to, segment.end - other->from_ns, Bound::kDispatch,
                       EdgeKind::kFollows, kNoEvent, 0});
      graph_.add_edge({from, to, 0, Bound::kDispatch, EdgeKind::kFollows, kNoEvent, 0});
      continue;
    }
    const bool before_file = graphs_.host_.is_before_file(thread.lane, segment);
    const bool unexplained =
        before_file || (segment.activity == HostActivity::kSynchronizing && ns > kMaxLatencyNs);
    graph_.add_edge({from, to, ns, unexplained ? Bound::kNotInTrace : bound_of(segment.activity),
                     EdgeKind::kTakes, segment.event, event_ns,
                     segment.activity == HostActivity::kBetweenOps});
  }
}

auto StepGraphs::Builder::own_copy(const HostTimeline::Segment& segment) const -> const Work* {
  if (segment.activity != HostActivity::kSynchronizing) return nullptr;
  const auto own = last_of_call_.find(segment.event);
  if (own == last_of_call_.end()) return nullptr;
  const Work& work = work_[own->second];
  const bool ends_later = work.end > segment.end && segment.end == trace_.end_ns(segment.event);
  return ends_later && work.begin >= window_.begin_ns && work.begin < segment.end ? &work : nullptr;
}

auto StepGraphs::Builder::waited_for(const HostTimeline::Segment& segment) const -> const Work* {
  if (segment.event == kNoEvent) return nullptr;
  // A call has several segments if other events lie inside it. It waits in the last one.
  const bool is_last =
      segment.end == trace_.end_ns(segment.event) || segment.end == window_.host_end_ns();
  if (!is_last) return nullptr;
  const bool waits = segment.activity == HostActivity::kSynchronizing;
  if (!waits && !is_full_queue(segment)) return nullptr;
  const auto own = last_of_call_.find(segment.event);
  if (waits && own != last_of_call_.end()) {
    const Work& work = work_[own->second];
    return work.end <= segment.end && work.end > segment.begin ? &work : nullptr;
  }
  const auto stream = graphs_.waits_for_stream_.find(segment.event);
  auto at = std::upper_bound(by_end_.begin(), by_end_.end(), segment.end,
                             [&](int64_t ns, size_t i) { return ns < work_[i].end; });
  while (at != by_end_.begin()) {
    const Work& work = work_[*--at];
    if (work.end <= segment.begin) return nullptr;
    const bool launched_later = index_.links.launch[work.id] != kNoEvent &&
                                index_.links.launch_ns[work.id] >= trace_.ts_ns[segment.event];
    if (launched_later) continue;
    if (stream != graphs_.waits_for_stream_.end() && trace_.lane[work.id] != stream->second) {
      continue;
    }
    return &work;
  }
  return nullptr;
}

bool StepGraphs::Builder::is_full_queue(const HostTimeline::Segment& segment) const {
  const bool is_long = segment.end - segment.begin > kMaxLatencyNs;
  if (segment.activity != HostActivity::kLaunching || !is_long) return false;
  const auto launched = std::lower_bound(launch_times_.begin(), launch_times_.end(), segment.begin);
  const auto started = std::upper_bound(start_times_.begin(), start_times_.end(), segment.end);
  return (launched - launch_times_.begin()) - (started - start_times_.begin()) >= kFullQueue;
}

auto StepGraphs::Builder::handoff(size_t place, const HostTimeline::Segment& segment)
    -> std::optional<Reason> {
  if (is_active(segment) || threads_.size() < 2) return std::nullopt;
  std::optional<Reason> latest;
  for (size_t other = 0; other < threads_.size(); ++other) {
    if (other == place || !alternate(place, other)) continue;
    const Thread& thread = threads_[other];
    const auto& ends = thread.active_ends;
    const auto after = std::lower_bound(ends.begin(), ends.end(), segment.end);
    if (after == ends.begin()) continue;
    const int64_t ns = *std::prev(after);
    if (ns <= segment.begin || (latest && ns <= latest->from_ns)) continue;
    // The node at the end of the segment that ends at `ns`.
    const size_t at = segment_at(thread, ns - 1);
    latest = Reason{thread.nodes[at + 1], ns, 0};
  }
  return latest;
}

bool StepGraphs::Builder::alternate(size_t a, size_t b) {
  const auto key = std::minmax(a, b);
  const size_t place = key.first * threads_.size() + key.second;
  const auto known = alternate_.find(place);
  if (known != alternate_.end()) return known->second;
  const Intervals& first = threads_[a].active;
  const Intervals& second = threads_[b].active;
  const auto shorter = static_cast<double>(std::min(length(first), length(second)));
  const bool result = static_cast<double>(overlap(first, second)) <= kAlternating * shorter;
  alternate_[place] = result;
  return result;
}

}  // namespace epi::analysis
