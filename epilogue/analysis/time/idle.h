// SPDX-License-Identifier: Apache-2.0
// The times in which a device runs nothing, and what the work after each of them waited for. Every
// sum of idle time is a sum over these gaps.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/time/bound.h"
#include "epilogue/analysis/time/host_activity.h"

namespace epi::analysis {

// What the work after an idle interval waited for.
enum class IdleCause : uint8_t {
  kNotLaunched,     // not launched yet: its thread did something else
  kLaunchLatency,   // launched during the gap, not started yet
  kBetweenKernels,  // launched before the gap: overhead between two kernels
  kNotInTrace,      // launched, but started much later than launch latency explains
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

  int64_t ns() const { return when.end - when.begin; }
};

// Idle time by cause. The fields sum up to the total.
struct IdleCauses {
  ActivityTimes host{};  // kNotLaunched, by the thread's activity
  int64_t launch_latency_ns = 0;
  int64_t between_ns = 0;
  int64_t not_in_file_ns = 0;
  int64_t unknown_ns = 0;  // kNoLaunch

  int64_t host_ns() const;
  int64_t total_ns() const;
  void add(const IdleGap& gap, int64_t ns);
};

// The same, grouped by remedy.
enum class IdleClass : uint8_t {
  kInput,
  kHost,
  kHostWork,
  kSync,
  kCompile,
  kAllocation,
  kStartUp,
  kGap,
  kUnknown,
};
inline constexpr size_t kIdleClasses = 9;
using IdleClassTimes = std::array<int64_t, kIdleClasses>;  // nanoseconds, by class

IdleClass idle_class(HostActivity activity);
// The activity matters only if the work was not launched yet.
IdleClass idle_class(IdleCause cause, HostActivity activity);
inline IdleClass idle_class(const IdleGap& gap) { return idle_class(gap.cause, gap.activity); }
// The same for a part of the critical path, which must not be device work.
IdleClass idle_class(Bound bound);
IdleClassTimes sums_by_class(const IdleCauses& causes);

// The work of one device, sorted by start, and a window that contains it.
struct WindowedWork {
  std::span<const trace::EventId> work;
  Interval window;
};
// The window's idle intervals, in order.
std::vector<IdleGap> idle_gaps(const TraceIndex& index, const HostTimeline& host,
                               const WindowedWork& windowed);
// The part of the gaps, which are in order, that lies in a window.
std::vector<IdleGap> clipped(std::span<const IdleGap> gaps, const Interval& window);
IdleCauses sum_of(std::span<const IdleGap> gaps);
// Sums for each of `parts` equal, consecutive parts of a window.
std::vector<IdleCauses> idle_over_time(std::span<const IdleGap> gaps, const Interval& window,
                                       size_t parts);

}  // namespace epi::analysis
