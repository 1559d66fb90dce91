// SPDX-License-Identifier: Apache-2.0
// Gaps in a device's work, and what the work behind each waited for.
#pragma once

#include <span>
#include <vector>

#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/time/host_activity.h"

namespace epi::analysis {

// What the work behind an idle moment waited for.
enum class IdleCause : uint8_t {
  kNotLaunched,     // it had not been launched, and its thread did something else
  kLaunchLatency,   // launch latency: launched in the gap, not started yet
  kBetweenKernels,  // launched before the gap: what lies between two kernels
  kOtherStreams,    // the same while another stream was busy; of a stream alone
  kOtherSteps,      // the device was busy with another step's work; of a step alone
  kNotInFile,  // launched, and begun far later than launches take: nothing in the file says why
  kNoLaunch,   // its launch is not in the trace
};

// Work that begins on an idle device begins within microseconds of its launch. What takes longer
// than this waits for something else.
inline constexpr int64_t kMaxLatencyNs = 100000;

// An idle time of one cause.
struct IdleGap {
  Interval when;
  IdleCause cause;
  HostActivity activity = HostActivity::kBetweenOps;  // of kNotLaunched: what its thread did
  trace::EventId waiting = trace::kNoEvent;           // the work behind the gap; none at the end
  trace::EventId host = trace::kNoEvent;  // the innermost event of that thread, or the launch
};

// Idle time by cause; they add up to it.
struct IdleCauses {
  ActivityTimes host{};  // kNotLaunched by what the thread did
  int64_t on_its_way_ns = 0;
  int64_t between_ns = 0;
  int64_t other_streams_ns = 0;
  int64_t other_steps_ns = 0;
  int64_t not_in_file_ns = 0;
  int64_t unknown_ns = 0;  // kNoLaunch

  int64_t host_ns() const;
  void add(const IdleGap& gap, int64_t ns);
};

// Work that one question is about, by when it begins, in a window that holds all of it.
struct WindowedWork {
  std::span<const trace::EventId> work;
  Interval window;
};

// Other work of the device, a set. Of streams it explains gaps that no launch is late for; of steps
// every moment in it.
struct OtherWork {
  enum class Of : uint8_t { kNothing, kStreams, kSteps };
  Of of = Of::kNothing;
  const Intervals* busy = nullptr;
};
// The window's idle times, in order.
std::vector<IdleGap> idle_gaps(const TraceIndex& index, const HostTimeline& host,
                               const WindowedWork& windowed, const OtherWork& others);
IdleCauses sum_of(std::span<const IdleGap> gaps);
// Sums for each of so many equal parts of a window, one behind the other.
std::vector<IdleCauses> idle_over_time(std::span<const IdleGap> gaps, const Interval& window,
                                       size_t parts);

}  // namespace epi::analysis
