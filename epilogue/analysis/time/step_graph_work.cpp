// SPDX-License-Identifier: Apache-2.0
// What device work waited for: its launch, the previous work, other streams.
#include "epilogue/analysis/time/step_graph_builder.h"

#include <algorithm>

#include "epilogue/analysis/time/idle.h"

namespace epi::analysis {
namespace {

using trace::kNoEvent;

// Minimum gap between two kernels of a stream.
constexpr int64_t kTypicalGapNs = 1500;
// Limits the search for the previous work.
constexpr int kMaxTries = 16;

}  // namespace

void StepGraphs::Builder::add_launch(const Work& work, std::vector<Reason>& reasons) {
  const EventId launch = index_.links.launch[work.id];
  if (launch == kNoEvent || trace_.ts_ns[launch] < window_.begin_ns) return;
  const Thread* thread = thread_of(trace_.lane[launch]);
  const int64_t called = trace_.ts_ns[launch];
  const bool inside = thread != nullptr && called <= work.begin && !thread->segments.empty() &&
                      called < thread->segments.back().end;
  if (!inside) return;
  const size_t at = segment_at(*thread, called);
  const auto& segment = thread->segments[at];
  const int64_t released =
      std::clamp(graphs_.host_.submitted_ns(trace_, launch), called, work.begin);
  const Node ready = graph_.add_node(released);
  graph_.add_edge({thread->nodes[at], ready, released - segment.begin, bound_of(segment.activity),
                   EdgeKind::kTakes, launch, trace_.dur_ns[launch]});
  reasons.push_back({ready, released, kTypicalLatencyNs});
}

void StepGraphs::Builder::add_stream_order(const Work& work, LaneId stream,
                                           std::vector<Reason>& reasons) {
  const auto last = last_of_stream_.find(stream);
  if (last == last_of_stream_.end()) return;
  const Work& before = work_[last->second];
  if (before.end <= work.begin) {
    reasons.push_back({before.to, before.end, kTypicalGapNs});
  } else if (before.begin >= window_.begin_ns) {
    // It may start before the previous work ends. It then follows the start of that work.
    reasons.push_back({before.from, work.begin, 0, true, last->second});
  }
}

void StepGraphs::Builder::add_other_streams(const Work& work, LaneId stream,
                                            std::vector<Reason>& reasons) {
  if (graphs_.has_stream_waits_) {
    const auto waits = graphs_.stream_waits_.find(stream);
    if (waits == graphs_.stream_waits_.end()) return;
    // All waits between the previous launch and this one: a stream may join several others.
    const auto last = last_of_stream_.find(stream);
    const int64_t before =
        last == last_of_stream_.end() ? INT64_MIN : index_.links.launch_ns[work_[last->second].id];
    auto wait = std::upper_bound(
        waits->second.begin(), waits->second.end(), index_.links.launch_ns[work.id],
        [](int64_t ns, const StreamWait& one) { return ns < one.launch_ns; });
    while (wait != waits->second.begin()) {
      --wait;
      if (wait->launch_ns <= before) break;
      const auto found = work_index_.find(wait->work);
      if (found == work_index_.end()) continue;
      const Work& other = work_[found->second];
      const bool earlier = other.end <= work.begin && other.to != 0 && other.id != work.id;
      if (earlier) reasons.push_back({other.to, other.end, kTypicalGapNs});
    }
    return;
  }
  // Without `cuda_sync` events: assume a dependency if the work starts when work of another stream
  // ends, and later than its own stream and its launch explain.
  int64_t explained = INT64_MIN;
  for (const Reason& reason : reasons) {
    explained = std::max(explained, reason.overlaps ? work.begin : reason.from_ns);
  }
  if (explained != INT64_MIN && work.begin - explained <= 2 * kTypicalLatencyNs) return;
  auto at = std::upper_bound(by_end_.begin(), by_end_.end(), work.begin,
                             [&](int64_t ns, size_t i) { return ns < work_[i].end; });
  while (at != by_end_.begin()) {
    const Work& other = work_[*--at];
    if (other.end <= explained) return;
    const bool same_device = trace_.lanes[trace_.lane[other.id]].pid == trace_.lanes[stream].pid;
    if (trace_.lane[other.id] == stream || !same_device || other.begin > work.begin ||
        other.to == 0) {
      continue;
    }
    reasons.push_back({other.to, other.end, kTypicalGapNs});
    return;
  }
}

void StepGraphs::Builder::add_recorded_order(const Work& work, LaneId stream) {
  auto at = std::upper_bound(by_end_.begin(), by_end_.end(), work.begin,
                             [&](int64_t ns, size_t i) { return ns < work_[i].end; });
  for (int tries = 0; at != by_end_.begin() && tries < kMaxTries; ++tries) {
    const Work& other = work_[*--at];
    if (trace_.lane[other.id] == stream) return;  // the stream's own order is stricter
    const bool same_device = trace_.lanes[trace_.lane[other.id]].pid == trace_.lanes[stream].pid;
    if (!same_device || other.to == 0 || other.id == work.id) continue;
    graph_.add_edge({other.to, work.from, 0, Bound::kLaunches, EdgeKind::kOrder, kNoEvent, 0});
    return;
  }
}

void StepGraphs::Builder::add_reasons(const Work& work, const std::vector<Reason>& reasons) {
  const auto time_of = [&](const Reason& reason) {
    return reason.overlaps ? work.begin : reason.from_ns;
  };
  if (reasons.empty()) {
    const int64_t ns = work.begin - window_.begin_ns;
    const bool short_wait = ns <= kMaxLatencyNs && index_.links.launch[work.id] != kNoEvent;
    graph_.add_edge({begin_, work.from, ns, short_wait ? Bound::kLaunches : Bound::kNotInTrace,
                     EdgeKind::kFollows, work.id, 0});
    return;
  }
  const auto latest =
      std::max_element(reasons.begin(), reasons.end(),
                       [&](const Reason& a, const Reason& b) { return time_of(a) < time_of(b); });
  for (auto reason = reasons.begin(); reason != reasons.end(); ++reason) {
    if (reason->overlaps) {
      const Work& before = work_[reason->before];
      graph_.add_edge({before.from, work.from, work.begin - before.begin, before.bound,
                       EdgeKind::kTakes, before.id, trace_.dur_ns[before.id]});
      continue;
    }
    const int64_t gap = work.begin - reason->from_ns;
    const EventId launch = index_.links.launch[work.id];
    const bool staged = launch != kNoEvent && graphs_.host_.waits_for_own_copy(launch);
    const bool is_long = gap > kMaxLatencyNs && !staged;
    const int64_t ns = reason == latest ? gap : std::min(gap, reason->min_ns);
    graph_.add_edge({reason->from, work.from, ns,
                     reason == latest && is_long ? Bound::kNotInTrace : Bound::kLaunches,
                     EdgeKind::kFollows, work.id, 0});
  }
}

}  // namespace epi::analysis
