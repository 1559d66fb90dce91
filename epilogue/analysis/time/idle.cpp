// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/idle.h"

#include <algorithm>
#include <utility>

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

// What the work after a gap, or before it at the end of a window, shows about the gap.
struct Wait {
  bool is_known = false;            // the launch, or the operator that calls the work
  trace::LaneId thread = 0;         // of the launch
  EventId launch = kNoEvent;        // none if the work is called by its operator
  int64_t launched_ns = INT64_MAX;  // until then, the thread did something else
};

class WaitFinder {
 public:
  WaitFinder(const TraceIndex& index, const HostTimeline& host)
      : trace_(index.trace), links_(index.links), host_(host) {}

  // `next` is the work after the gap, or kNoEvent at the end of the window.
  Wait of(EventId next, EventId before) const {
    // After the last work, nothing else is launched. The thread of the last launch shows the cause.
    const EventId reference = next != kNoEvent ? next : before;
    const EventId launch = reference != kNoEvent ? links_.launch[reference] : kNoEvent;
    const EventId caller = reference != kNoEvent ? links_.op[reference] : kNoEvent;
    if (launch == kNoEvent && caller != kNoEvent &&
        trace_.end_ns(caller) >= trace_.end_ns(reference)) {
      // The CPU backend's operators call their kernels directly.
      return {true, trace_.lane[caller], kNoEvent, INT64_MAX};
    }
    if (launch == kNoEvent) return {};
    const bool staged = next != kNoEvent && host_.waits_for_own_copy(launch);
    return {true, trace_.lane[launch], launch,
            next == kNoEvent || staged ? INT64_MAX : host_.submitted_ns(trace_, launch)};
  }

 private:
  const trace::Trace& trace_;
  const trace::Links& links_;
  const HostTimeline& host_;
};

// Calls `add(gap, next, before)` for each gap of the window.
template <typename Add>
void for_each_gap(const trace::Trace& trace, const WindowedWork& windowed, Add&& add) {
  int64_t covered_to = windowed.window.begin;
  EventId before = kNoEvent;
  const auto add_up_to = [&](int64_t end, EventId next) {
    if (covered_to < end) add(Interval{covered_to, end}, next, before);
  };
  for (const EventId id : windowed.work) {
    add_up_to(std::min(trace.ts_ns[id], windowed.window.end), id);
    covered_to = std::max(covered_to, trace.end_ns(id));
    before = id;
  }
  add_up_to(windowed.window.end, kNoEvent);
}

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
                       known ? IdleCause::kNotLaunched : IdleCause::kNotInTrace,
                       one.activity,
                       next,
                       one.event});
    }
  }

  void add_latency(const Interval& when, IdleCause cause, EventId next, EventId launch) {
    if (when.begin >= when.end) return;
    gaps_.push_back({when,
                     when.end - when.begin > kMaxLatencyNs ? IdleCause::kNotInTrace : cause,
                     {},
                     next,
                     launch});
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

int64_t IdleCauses::total_ns() const {
  return host_ns() + launch_latency_ns + between_ns + not_in_file_ns + unknown_ns;
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
    case IdleCause::kNotInTrace:
      not_in_file_ns += ns;
      break;
    case IdleCause::kNoLaunch:
      unknown_ns += ns;
      break;
  }
}

IdleClass idle_class(HostActivity activity) {
  switch (activity) {
    case HostActivity::kDispatch:
    case HostActivity::kLaunching:
    case HostActivity::kGuards:
    case HostActivity::kBetweenOps:
      return IdleClass::kHost;
    case HostActivity::kHostWork:
      return IdleClass::kHostWork;
    case HostActivity::kAllocating:
      return IdleClass::kAllocation;
    case HostActivity::kInitializing:
      return IdleClass::kStartUp;
    case HostActivity::kSynchronizing:
      return IdleClass::kSync;
    case HostActivity::kDataLoading:
      return IdleClass::kInput;
    case HostActivity::kCompiling:
      return IdleClass::kCompile;
  }
  return IdleClass::kHost;
}

IdleClass idle_class(IdleCause cause, HostActivity activity) {
  switch (cause) {
    case IdleCause::kNotLaunched:
      return idle_class(activity);
    case IdleCause::kLaunchLatency:
    case IdleCause::kBetweenKernels:
      return IdleClass::kGap;
    case IdleCause::kNotInTrace:
    case IdleCause::kNoLaunch:
      return IdleClass::kUnknown;
  }
  return IdleClass::kUnknown;
}

IdleClass idle_class(Bound bound) {
  switch (bound) {
    case Bound::kHostWork:
      return IdleClass::kHostWork;
    case Bound::kSynchronizing:
      return IdleClass::kSync;
    case Bound::kInput:
      return IdleClass::kInput;
    case Bound::kAllocating:
      return IdleClass::kAllocation;
    case Bound::kInitializing:
      return IdleClass::kStartUp;
    case Bound::kCompiling:
      return IdleClass::kCompile;
    case Bound::kNotInTrace:
      return IdleClass::kUnknown;
    default:
      return IdleClass::kHost;
  }
}

IdleClassTimes sums_by_class(const IdleCauses& causes) {
  IdleClassTimes sums{};
  const auto add = [&](IdleClass idle, int64_t ns) { sums[static_cast<size_t>(idle)] += ns; };
  for (size_t i = 0; i < causes.host.size(); ++i) {
    add(idle_class(static_cast<HostActivity>(i)), causes.host[i]);
  }
  add(IdleClass::kGap, causes.launch_latency_ns + causes.between_ns);
  add(IdleClass::kUnknown, causes.not_in_file_ns + causes.unknown_ns);
  return sums;
}

std::vector<IdleGap> idle_gaps(const TraceIndex& index, const HostTimeline& host,
                               const WindowedWork& windowed) {
  return GapClassifier(index, host).of(windowed);
}

std::vector<IdleGap> clipped(std::span<const IdleGap> gaps, const Interval& window) {
  std::vector<IdleGap> part;
  if (window.begin >= window.end) return part;
  auto at = std::lower_bound(gaps.begin(), gaps.end(), window.begin,
                             [](const IdleGap& gap, int64_t ns) { return gap.when.end <= ns; });
  for (; at != gaps.end() && at->when.begin < window.end; ++at) {
    part.push_back(*at);
    Interval& when = part.back().when;
    when = {std::max(when.begin, window.begin), std::min(when.end, window.end)};
  }
  return part;
}

IdleCauses sum_of(std::span<const IdleGap> gaps) {
  IdleCauses causes;
  for (const IdleGap& gap : gaps) causes.add(gap, gap.ns());
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
