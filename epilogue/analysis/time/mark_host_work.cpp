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
  LaneMarker(bool works_between_ops, std::vector<const Intervals*> others)
      : works_between_ops_(works_between_ops), others_(std::move(others)) {}

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
    if (one.activity == HostActivity::kDispatch) return add_to_run(one);
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

  bool works_between_ops_;
  std::vector<const Intervals*> others_;
  std::vector<Segment> marked_;
  std::vector<Segment> run_;  // since the last call
  int64_t run_ns_ = 0;
};

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
  for (LaneId lane = 0; lane < lanes.size(); ++lane) {
    if (launches[lane] == 0 && !main[lane]) continue;
    std::vector<const Intervals*> others;
    for (LaneId other = 0; other < lanes.size(); ++other) {
      const bool may_wait = main[lane] && other != lane && !active[other].empty();
      if (may_wait) others.push_back(&active[other]);
    }
    lanes[lane] = LaneMarker(main[lane], std::move(others)).of(lanes[lane]);
  }
}

}  // namespace epi::analysis
