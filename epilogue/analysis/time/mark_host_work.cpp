// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/mark_host_work.h"

#include <algorithm>

namespace epi::analysis {
namespace {

using trace::kNoEvent;
using trace::LaneId;
using Segment = HostTimeline::Segment;

// Marks the work of one thread.
class LaneMarker {
 public:
  // `works_between_ops`: time without operators can be work. `others`: when other threads that
  // launch work are active.
  // `launches`: by event, whether it is part of an operator that makes a call.
  LaneMarker(const std::vector<bool>& launches, bool works_between_ops,
             std::vector<const Intervals*> others)
      : launches_(launches), works_between_ops_(works_between_ops), others_(std::move(others)) {}

  std::vector<Segment> of(const std::vector<Segment>& segments) {
    int64_t covered_to = segments.empty() ? 0 : segments.front().begin;
    for (const Segment& one : segments) {
      if (one.begin > covered_to) {
        add({covered_to, one.begin, HostActivity::kBetweenOps, kNoEvent});
      }
      add(one);
      covered_to = one.end;
    }
    end_run();
    return std::move(marked_);
  }

 private:
  void add(const Segment& one) {
    const bool is_op = one.activity == HostActivity::kDispatch;
    if (is_op && !launches_[one.event]) return add_to_run(one);
    if (one.activity == HostActivity::kBetweenOps && works_between_ops_) return add_gap(one);
    end_run();
    keep(one);
  }

  // While another thread is active, as in the backward pass, this one may wait for it.
  void add_gap(const Segment& gap) {
    Intervals alone{{gap.begin, gap.end}};
    if (gap.end - gap.begin >= kMinHostWorkNs) {
      for (const Intervals* other : others_) {
        alone = difference(alone, clipped(*other, gap.begin, gap.end));
      }
    }
    int64_t at = gap.begin;
    const auto wait_until = [&](int64_t ns) {
      if (at >= ns) return;
      end_run();
      keep({at, ns, gap.activity, gap.event});
    };
    for (const Interval& part : alone) {
      wait_until(part.begin);
      add_to_run({part.begin, part.end, gap.activity, gap.event});
      at = part.end;
    }
    wait_until(gap.end);
  }

  void add_to_run(const Segment& one) {
    run_.push_back(one);
    run_ns_ += one.end - one.begin;
  }

  void end_run() {
    for (Segment& one : run_) {
      if (run_ns_ >= kMinHostWorkNs) one.activity = HostActivity::kHostWork;
      keep(one);
    }
    run_.clear();
    run_ns_ = 0;
  }

  // Time without an event needs a segment only if it is work.
  void keep(const Segment& one) {
    if (one.event != kNoEvent || one.activity == HostActivity::kHostWork) marked_.push_back(one);
  }

  const std::vector<bool>& launches_;
  bool works_between_ops_;
  std::vector<const Intervals*> others_;
  std::vector<Segment> marked_;
  std::vector<Segment> run_;  // since the last call
  int64_t run_ns_ = 0;
};

// By event: whether it is part of an operator that makes a call. Such an operator is dispatched.
std::vector<bool> parts_of_launching_ops(const TraceIndex& index) {
  const trace::Trace& trace = index.trace;
  const auto& [order, parent, self_ns] = index.links.tree;
  std::vector<bool> launches(trace.size());
  for (const trace::EventId id : order) {
    if (!trace::is_call(trace.category[id])) continue;
    trace::EventId around = parent[id];
    for (; around != kNoEvent && !launches[around]; around = parent[around]) {
      if (trace.category[around] == trace::Category::kCpuOp) launches[around] = true;
    }
  }
  for (const trace::EventId id : order) {  // parents come first
    if (parent[id] != kNoEvent && launches[parent[id]]) launches[id] = true;
  }
  return launches;
}

// The threads that steps are marked on or, without steps, the one with the most launches. Other
// threads wait when they have no operator.
std::vector<bool> main_lanes(const TraceIndex& index, const std::vector<int64_t>& launches) {
  std::vector<bool> main(launches.size());
  const auto& marks = index.ownership.marks().events;
  for (const trace::EventId id : marks) main[index.trace.lane[id]] = true;
  if (marks.empty() && !launches.empty()) {
    const auto most = std::max_element(launches.begin(), launches.end());
    main[static_cast<size_t>(most - launches.begin())] = true;
  }
  return main;
}

}  // namespace

void mark_host_work(const TraceIndex& index, std::vector<std::vector<Segment>>& lanes) {
  std::vector<int64_t> launches(lanes.size());
  for (const trace::EventId id : index.ownership.everything().launches) {
    ++launches[index.trace.lane[id]];
  }
  std::vector<Intervals> active(lanes.size());
  for (LaneId lane = 0; lane < lanes.size(); ++lane) {
    if (launches[lane] == 0) continue;
    for (const Segment& one : lanes[lane]) {
      if (one.activity != HostActivity::kBetweenOps) active[lane].push_back({one.begin, one.end});
    }
    active[lane] = merged(std::move(active[lane]));
  }
  const std::vector<bool> main = main_lanes(index, launches);
  const std::vector<bool> launching = parts_of_launching_ops(index);
  for (LaneId lane = 0; lane < lanes.size(); ++lane) {
    if (launches[lane] == 0 && !main[lane]) continue;
    std::vector<const Intervals*> others;
    for (LaneId other = 0; other < lanes.size(); ++other) {
      const bool may_wait = main[lane] && other != lane && !active[other].empty();
      if (may_wait) others.push_back(&active[other]);
    }
    lanes[lane] = LaneMarker(launching, main[lane], std::move(others)).of(lanes[lane]);
  }
}

}  // namespace epi::analysis
