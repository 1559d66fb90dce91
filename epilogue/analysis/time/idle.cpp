// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/idle.h"

#include <algorithm>
#include <utility>

#include "epilogue/analysis/time/idle_waits.h"

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

// Splits a window's gaps by cause.
class GapClassifier {
 public:
  GapClassifier(const TraceIndex& index, const HostTimeline& host)
      : trace_(index.trace), host_(host), waits_(index, host), places_(index.trace.lanes.size()) {}

  std::vector<IdleGap> of(const WindowedWork& windowed) {
    for_each_gap(trace_, windowed, [&](const Interval& gap, EventId next, EventId before) {
      add(gap, next, waits_.of(next, before));
    });
    return std::move(gaps_);
  }

 private:
  void add(const Interval& gap, EventId next, const Wait& wait) {
    if (!wait.is_known) {
      gaps_.push_back({gap, IdleCause::kNoLaunch, {}, next, kNoEvent});
      return;
    }
    const int64_t launched_ns = std::clamp(wait.launched_ns, gap.begin, gap.end);
    add_host(wait.thread, {gap.begin, launched_ns}, next);
    const bool during = launched_ns > gap.begin;
    add_latency({launched_ns, gap.end},
                during ? IdleCause::kLaunchLatency : IdleCause::kBetweenKernels, next, wait.launch);
  }

  // Adds what a thread did instead of launching the work.
  void add_host(trace::LaneId thread, const Interval& when, EventId next) {
    if (when.begin >= when.end) return;
    for (const auto& one : host_.segments(thread, when.begin, when.end, places_[thread])) {
      const bool known = !host_.is_before_file(thread, one);
      gaps_.push_back({{one.begin, one.end},
                       known ? IdleCause::kNotLaunched : IdleCause::kNotInFile,
                       one.activity,
                       next,
                       one.event});
    }
  }

  void add_latency(const Interval& when, IdleCause cause, EventId next, EventId launch) {
    if (when.begin >= when.end) return;
    gaps_.push_back({when, is_long(when) ? IdleCause::kNotInFile : cause, {}, next, launch});
  }

  const trace::Trace& trace_;
  const HostTimeline& host_;
  WaitFinder waits_;
  std::vector<size_t> places_;  // by lane: of the segments of the previous gap
  std::vector<IdleGap> gaps_;
};

}  // namespace

int64_t IdleCauses::host_ns() const {
  int64_t total = 0;
  for (const int64_t ns : host) total += ns;
  return total;
}

void IdleCauses::add(const IdleGap& gap, int64_t ns) {
  switch (gap.cause) {
    case IdleCause::kNotLaunched:
      host[static_cast<size_t>(gap.activity)] += ns;
      break;
    case IdleCause::kLaunchLatency:
      launch_latency_ns += ns;
      break;
    case IdleCause::kBetweenKernels:
      between_ns += ns;
      break;
    case IdleCause::kOtherStreams:
      other_streams_ns += ns;
      break;
    case IdleCause::kOtherSteps:
      other_steps_ns += ns;
      break;
    case IdleCause::kNotInFile:
      not_in_file_ns += ns;
      break;
    case IdleCause::kNoLaunch:
      unknown_ns += ns;
      break;
  }
}

std::vector<IdleGap> idle_gaps(const TraceIndex& index, const HostTimeline& host,
                               const WindowedWork& windowed) {
  return GapClassifier(index, host).of(windowed);
}

IdleCauses sum_of(std::span<const IdleGap> gaps) {
  IdleCauses causes;
  for (const IdleGap& gap : gaps) causes.add(gap, gap.when.end - gap.when.begin);
  return causes;
}

std::vector<IdleCauses> idle_over_time(std::span<const IdleGap> gaps, const Interval& window,
                                       size_t parts) {
  if (parts == 0) return {};
  std::vector<IdleCauses> over_time(parts);
  const auto [begin, end] = window;
  const auto count = static_cast<int64_t>(parts);
  // Start of each part in nanoseconds. The last part ends with the window.
  const auto edge = [&](int64_t part) {
    return begin + (end - begin) / count * part + (end - begin) % count * part / count;
  };
  for (const IdleGap& gap : gaps) {
    int64_t part = (gap.when.begin - begin) / std::max<int64_t>(1, (end - begin) / count + 1);
    for (; part < count && edge(part) < gap.when.end; ++part) {
      const int64_t ns =
          std::min(gap.when.end, edge(part + 1)) - std::max(gap.when.begin, edge(part));
      if (ns > 0) over_time[static_cast<size_t>(part)].add(gap, ns);
    }
  }
  return over_time;
}

}  // namespace epi::analysis
