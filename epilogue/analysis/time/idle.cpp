// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/idle.h"

#include <algorithm>
#include <utility>

namespace epi::analysis {
namespace {

using trace::EventId;
using trace::kNoEvent;

// Splits a window's gaps by cause.
class GapClassifier {
 public:
  GapClassifier(const TraceIndex& index, const HostTimeline& host, const OtherWork& others)
      : trace_(index.trace), links_(index.links), host_(host), others_(others) {}

  std::vector<IdleGap> of(const WindowedWork& windowed) {
    int64_t covered_to = windowed.window.begin;
    EventId before = kNoEvent;
    for (const EventId id : windowed.work) {
      add({covered_to, std::min(trace_.ts_ns[id], windowed.window.end)}, id, before);
      covered_to = std::max(covered_to, trace_.end_ns(id));
      before = id;
    }
    add({covered_to, windowed.window.end}, kNoEvent, before);
    return std::move(gaps_);
  }

 private:
  // `next` is the work after the gap, or kNoEvent at the end of the window.
  void add(const Interval& gap, EventId next, EventId before) {
    if (gap.begin >= gap.end) return;
    if (others_.of != OtherWork::Of::kSteps) return add_part(gap, next, before);
    for (const Interval& part : without_others(gap, IdleCause::kOtherSteps, next)) {
      add_part(part, next, before);
    }
  }

  Intervals without_others(const Interval& gap, IdleCause cause, EventId next) {
    const Intervals busy = clipped(*others_.busy, gap.begin, gap.end);
    for (const Interval& part : busy) gaps_.push_back({part, cause, {}, next, kNoEvent});
    return difference({gap}, busy);
  }

  void add_part(const Interval& gap, EventId next, EventId before) {
    // After the last work, nothing else is launched. The thread of the last launch shows the cause.
    const EventId reference = next != kNoEvent ? next : before;
    const EventId launch = reference != kNoEvent ? links_.launch[reference] : kNoEvent;
    const EventId caller = reference != kNoEvent ? links_.op[reference] : kNoEvent;
    if (launch == kNoEvent && caller != kNoEvent &&
        trace_.end_ns(caller) >= trace_.end_ns(reference)) {
      // The CPU backend's operators call their kernels directly.
      add_host(trace_.lane[caller], gap, next);
      return;
    }
    if (launch == kNoEvent) {
      gaps_.push_back({gap, IdleCause::kNoLaunch, {}, next, kNoEvent});
      return;
    }
    const bool staged = next != kNoEvent && host_.waits_for_own_copy(launch);
    const int64_t launched_ns =
        next == kNoEvent || staged
            ? gap.end
            : std::clamp(host_.submitted_ns(trace_, launch), gap.begin, gap.end);
    if (launched_ns > gap.begin) {
      add_host(trace_.lane[launch], {gap.begin, launched_ns}, next);
      add_latency({launched_ns, gap.end}, IdleCause::kLaunchLatency, next, launch);
    } else if (others_.of == OtherWork::Of::kStreams) {
      for (const Interval& part : without_others(gap, IdleCause::kOtherStreams, next)) {
        add_latency(part, IdleCause::kBetweenKernels, next, launch);
      }
    } else {
      add_latency(gap, IdleCause::kBetweenKernels, next, launch);
    }
  }

  // Adds what a thread did instead of launching the work.
  void add_host(trace::LaneId thread, const Interval& when, EventId next) {
    for (const auto& one : host_.segments(thread, when.begin, when.end)) {
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
    const bool is_long = when.end - when.begin > kMaxLatencyNs;
    gaps_.push_back({when, is_long ? IdleCause::kNotInFile : cause, {}, next, launch});
  }

  const trace::Trace& trace_;
  const trace::Links& links_;
  const HostTimeline& host_;
  const OtherWork& others_;
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
                               const WindowedWork& windowed, const OtherWork& others) {
  return GapClassifier(index, host, others).of(windowed);
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
