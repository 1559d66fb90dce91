// SPDX-License-Identifier: Apache-2.0
// Gaps in a device's work, and what the work after each gap waited for.
#pragma once

#include <span>
#include <vector>

#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/time/host_activity.h"

namespace epi::analysis {

// What the work after an idle interval waited for.
enum class IdleCause : uint8_t {
  kNotLaunched,     // not launched yet: its thread did something else
  kLaunchLatency,   // launched during the gap, not started yet
  kBetweenKernels,  // launched before the gap: overhead between two kernels
  kOtherStreams,    // as above, while another stream was busy; only for a stream
  kOtherSteps,      // the device ran another step's work; only for a step
  kNotInFile,       // launched, but started much later than launch latency explains
  kNoLaunch,        // its launch is not in the trace
};

// On an idle device, work starts within microseconds of its launch. A longer delay means that it
// waits for something else.
inline constexpr int64_t kMaxLatencyNs = 100000;

// An idle interval with one cause.
struct IdleGap {
  Interval when;
  IdleCause cause;
  HostActivity activity = HostActivity::kBetweenOps;  // of its thread, for kNotLaunched
  trace::EventId waiting = trace::kNoEvent;           // the work after the gap; none at the end
  trace::EventId host = trace::kNoEvent;              // the thread's innermost event, or the launch
};

// Idle time by cause. The fields sum up to the total.
struct IdleCauses {
  ActivityTimes host{};  // kNotLaunched, by the thread's activity
  int64_t launch_latency_ns = 0;
  int64_t between_ns = 0;
  int64_t other_streams_ns = 0;
  int64_t other_steps_ns = 0;
  int64_t not_in_file_ns = 0;
  int64_t unknown_ns = 0;  // kNoLaunch

  int64_t host_ns() const;
  void add(const IdleGap& gap, int64_t ns);
};

// The work under analysis, sorted by start, and a window that contains it.
struct WindowedWork {
  std::span<const trace::EventId> work;
  Interval window;
};

// The window's idle intervals, in order.
std::vector<IdleGap> idle_gaps(const TraceIndex& index, const HostTimeline& host,
                               const WindowedWork& windowed);
IdleCauses sum_of(std::span<const IdleGap> gaps);
// Sums for each of `parts` equal, consecutive parts of a window.
std::vector<IdleCauses> idle_over_time(std::span<const IdleGap> gaps, const Interval& window,
                                       size_t parts);

}  // namespace epi::analysis
