// SPDX-License-Identifier: Apache-2.0
// Gaps in a device's work, and what the work behind each waited for.
#pragma once

#include <span>
#include <vector>

#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/time/host_activity.h"

namespace epi::analysis {

// Idle time by what the next piece of work waited for; they add up to it.
struct IdleCauses {
  ActivityTimes host{};          // it had not been launched, and its thread did this
  int64_t on_its_way_ns = 0;     // launched in the gap, and not begun yet
  int64_t between_ns = 0;        // launched before the gap: what lies between two kernels
  int64_t other_streams_ns = 0;  // the same while another stream was busy; of a stream alone
  int64_t other_steps_ns = 0;    // the device was busy with another step's work; of a step alone
  int64_t unknown_ns = 0;        // its launch is not in the trace

  int64_t host_ns() const;
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
// Adds the window's idle moments up by cause.
IdleCauses idle_causes(const TraceIndex& index, const HostTimeline& host,
                       const WindowedWork& windowed, const OtherWork& others);
// The same for each of so many equal parts of the window, one behind the other.
std::vector<IdleCauses> idle_over_time(const TraceIndex& index, const HostTimeline& host,
                                       const WindowedWork& windowed, size_t parts);

}  // namespace epi::analysis
