// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/idle_sums.h"

#include <algorithm>
#include <utility>

#include "epilogue/analysis/index/search.h"
#include "epilogue/analysis/time/idle_waits.h"

namespace epi::analysis {
namespace {

using trace::EventId;

class GapSummer {
 public:
  GapSummer(const TraceIndex& index, const HostTimeline& host, HostTimes& host_times,
            OtherWork other, const BusyTimes& busy)
      : index_(index), waits_(index, host), host_times_(host_times), other_(other), busy_(busy) {}

  IdleCauses of(const WindowedWork& windowed) {
    for_each_gap(index_.trace, windowed, [&](const Interval& gap, EventId next, EventId before) {
      const Wait wait = waits_.of(next, before);
      other_ == OtherWork::kSteps ? add_of_step(gap, wait) : add_of_stream(gap, wait);
    });
    return causes_;
  }

 private:
  void add_of_stream(const Interval& gap, const Wait& wait) {
    if (!wait.is_known) {
      causes_.unknown_ns += gap.end - gap.begin;
      return;
    }
    const int64_t launched_ns = std::clamp(wait.launched_ns, gap.begin, gap.end);
    if (launched_ns > gap.begin) {
      host_times_.add(wait.thread, {gap.begin, launched_ns}, causes_);
      add_latency({launched_ns, gap.end});
    } else {
      const BusyTimes::Sums sums = busy_.in(gap);
      causes_.other_streams_ns += sums.busy_ns;
      add_between(sums);
    }
  }

  void add_of_step(const Interval& gap, const Wait& wait) {
    if (!wait.is_known) {
      const BusyTimes::Sums sums = busy_.in(gap);
      causes_.other_steps_ns += sums.busy_ns;
      causes_.unknown_ns += sums.short_ns + sums.long_ns;
      return;
    }
    const int64_t launched_ns = std::clamp(wait.launched_ns, gap.begin, gap.end);
    // The launch is inside the step, so this part is about as long as the step.
    const Intervals busy = clipped(busy_.intervals(), gap.begin, launched_ns);
    causes_.other_steps_ns += length(busy);
    for (const Interval& hole : difference({{gap.begin, launched_ns}}, busy)) {
      host_times_.add(wait.thread, hole, causes_);
    }
    int64_t from = launched_ns;
    if (launched_ns > gap.begin && busy_.idle_since(launched_ns) < launched_ns) {
      from = std::min(busy_.idle_until(launched_ns), gap.end);
      add_latency({launched_ns, from});
    }
    if (from >= gap.end) return;
    const BusyTimes::Sums sums = busy_.in({from, gap.end});
    causes_.other_steps_ns += sums.busy_ns;
    add_between(sums);
  }

  void add_latency(const Interval& when) {
    (is_long(when) ? causes_.not_in_file_ns : causes_.launch_latency_ns) += when.end - when.begin;
  }

  void add_between(const BusyTimes::Sums& sums) {
    causes_.between_ns += sums.short_ns;
    causes_.not_in_file_ns += sums.long_ns;
  }

  const TraceIndex& index_;
  WaitFinder waits_;
  HostTimes& host_times_;
  OtherWork other_;
  const BusyTimes& busy_;
  IdleCauses causes_;
};

void add_segment(const HostTimeline::Segment& one, ActivityTimes& times) {
  times[static_cast<size_t>(one.activity)] += one.end - one.begin;
}

}  // namespace

BusyTimes::BusyTimes(Intervals busy) : busy_(std::move(busy)), before_(busy_.size() + 1) {
  for (size_t i = 0; i < busy_.size(); ++i) {
    before_[i + 1] = before_[i];
    before_[i + 1].busy_ns += busy_[i].end - busy_[i].begin;
    if (i + 1 < busy_.size()) before_[i + 1].add_hole({busy_[i].end, busy_[i + 1].begin});
  }
}

void BusyTimes::Sums::add_hole(const Interval& hole) {
  if (hole.begin < hole.end) (is_long(hole) ? long_ns : short_ns) += hole.end - hole.begin;
}

size_t BusyTimes::first_after(int64_t ns) const {
  const auto at =
      std::upper_bound(busy_.begin(), busy_.end(), ns,
                       [](int64_t value, const Interval& one) { return value < one.end; });
  return static_cast<size_t>(at - busy_.begin());
}

BusyTimes::Sums BusyTimes::in(const Interval& when) const {
  Sums sums;
  const size_t first = first_after(when.begin);
  const auto end = std::lower_bound(busy_.begin(), busy_.end(), when.end,
                                    [](const Interval& one, int64_t ns) { return one.begin < ns; });
  const auto last = static_cast<size_t>(end - busy_.begin());
  if (first >= last) {
    sums.add_hole(when);
    return sums;
  }
  // The sums before an interval include the hole in front of it.
  sums.busy_ns = before_[last - 1].busy_ns - before_[first].busy_ns;
  sums.short_ns = before_[last - 1].short_ns - before_[first].short_ns;
  sums.long_ns = before_[last - 1].long_ns - before_[first].long_ns;
  sums.busy_ns += std::min(busy_[last - 1].end, when.end) - busy_[last - 1].begin;
  sums.busy_ns -= std::max<int64_t>(0, when.begin - busy_[first].begin);
  sums.add_hole({when.begin, busy_[first].begin});
  sums.add_hole({busy_[last - 1].end, when.end});
  return sums;
}

int64_t BusyTimes::idle_since(int64_t ns) const {
  const size_t next = first_after(ns);
  if (next < busy_.size() && busy_[next].begin <= ns) return ns;
  return next == 0 ? INT64_MIN : busy_[next - 1].end;
}

int64_t BusyTimes::idle_until(int64_t ns) const {
  const size_t next = first_after(ns);
  return next < busy_.size() ? std::max(ns, busy_[next].begin) : INT64_MAX;
}

HostTimes::Lane& HostTimes::lane_of(trace::LaneId id) {
  const auto [known, is_new] = lanes_.try_emplace(id);
  Lane& lane = known->second;
  if (!is_new) return lane;
  const auto segments = host_.recorded(id);
  ActivityTimes times{};
  for (size_t i = 0; i < segments.size(); ++i) {
    if (i % kSumsEvery == 0) lane.sums.push_back(times);
    add_segment(segments[i], times);
  }
  if (segments.size() % kSumsEvery == 0) lane.sums.push_back(times);
  return lane;
}

void HostTimes::add(trace::LaneId id, const Interval& when, IdleCauses& causes) {
  if (when.begin >= when.end) return;
  const auto segments = host_.recorded(id);
  Lane& lane = lane_of(id);
  // The time per activity before a segment.
  const auto before = [&](size_t place) {
    ActivityTimes times = lane.sums[place / kSumsEvery];
    for (size_t i = place / kSumsEvery * kSumsEvery; i < place; ++i) {
      add_segment(segments[i], times);
    }
    return times;
  };
  const size_t first =
      count_before(segments, lane.place, [&](const auto& one) { return one.end <= when.begin; });
  const size_t last =
      count_before(segments, first, [&](const auto& one) { return one.begin < when.end; });
  lane.place = first;
  const ActivityTimes until_first = before(first);
  ActivityTimes times = before(last);
  int64_t rest_ns = when.end - when.begin;  // nothing is recorded
  for (size_t i = 0; i < times.size(); ++i) times[i] -= until_first[i];
  if (first != last) {
    const auto& begin = segments[first];
    const auto& end = segments[last - 1];
    times[static_cast<size_t>(begin.activity)] -= std::max<int64_t>(0, when.begin - begin.begin);
    times[static_cast<size_t>(end.activity)] -= std::max<int64_t>(0, end.end - when.end);
  }
  for (size_t i = 0; i < times.size(); ++i) {
    rest_ns -= times[i];
    causes.host[i] += times[i];
  }
  // Before the first event of the thread, its activity is unknown.
  const int64_t first_begin = segments.empty() ? when.end : segments.front().begin;
  const Interval before_first{when.begin, std::min(when.end, first_begin)};
  const HostTimeline::Segment unrecorded{before_first.begin, before_first.end,
                                         HostActivity::kBetweenOps, trace::kNoEvent};
  if (before_first.begin < before_first.end && host_.is_before_file(id, unrecorded)) {
    causes.not_in_file_ns += before_first.end - before_first.begin;
    rest_ns -= before_first.end - before_first.begin;
  }
  causes.host[static_cast<size_t>(HostActivity::kBetweenOps)] += rest_ns;
}

IdleCauses idle_causes(const TraceIndex& index, const HostTimeline& host, HostTimes& host_times,
                       const WindowedWork& windowed, OtherWork other, const BusyTimes& busy) {
  return GapSummer(index, host, host_times, other, busy).of(windowed);
}

}  // namespace epi::analysis
