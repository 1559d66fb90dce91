// SPDX-License-Identifier: Apache-2.0
// The gaps of a window, and the launch that explains each. Part of the implementation of idle.h and
// idle_sums.h.
#pragma once

#include <algorithm>

#include "epilogue/analysis/time/idle.h"

namespace epi::analysis {

// What the work after a gap, or before it at the end of a window, shows about the gap.
struct Wait {
  bool is_known = false;                    // the launch, or the operator that calls the work
  trace::LaneId thread = 0;                 // of the launch
  trace::EventId launch = trace::kNoEvent;  // none if the work is called by its operator
  int64_t launched_ns = INT64_MAX;          // until then, the thread did something else
};

class WaitFinder {
 public:
  WaitFinder(const TraceIndex& index, const HostTimeline& host)
      : trace_(index.trace), links_(index.links), host_(host) {}

  // `next` is the work after the gap, or trace::kNoEvent at the end of the window.
  Wait of(trace::EventId next, trace::EventId before) const {
    // After the last work, nothing else is launched. The thread of the last launch shows the cause.
    const trace::EventId reference = next != trace::kNoEvent ? next : before;
    const trace::EventId launch =
        reference != trace::kNoEvent ? links_.launch[reference] : trace::kNoEvent;
    const trace::EventId caller =
        reference != trace::kNoEvent ? links_.op[reference] : trace::kNoEvent;
    if (launch == trace::kNoEvent && caller != trace::kNoEvent &&
        trace_.end_ns(caller) >= trace_.end_ns(reference)) {
      // The CPU backend's operators call their kernels directly.
      return {true, trace_.lane[caller], trace::kNoEvent, INT64_MAX};
    }
    if (launch == trace::kNoEvent) return {};
    const bool staged = next != trace::kNoEvent && host_.waits_for_own_copy(launch);
    return {true, trace_.lane[launch], launch,
            next == trace::kNoEvent || staged ? INT64_MAX : host_.submitted_ns(trace_, launch)};
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
  trace::EventId before = trace::kNoEvent;
  const auto add_up_to = [&](int64_t end, trace::EventId next) {
    if (covered_to < end) add(Interval{covered_to, end}, next, before);
  };
  for (const trace::EventId id : windowed.work) {
    add_up_to(std::min(trace.ts_ns[id], windowed.window.end), id);
    covered_to = std::max(covered_to, trace.end_ns(id));
    before = id;
  }
  add_up_to(windowed.window.end, trace::kNoEvent);
}

inline bool is_long(const Interval& when) { return when.end - when.begin > kMaxLatencyNs; }

}  // namespace epi::analysis
