// SPDX-License-Identifier: Apache-2.0
// Gaps in a device's work, and what the work behind each waited for.
#pragma once

#include <span>
#include <vector>

#include "epilogue/analysis/breakdown.h"
#include "epilogue/analysis/intervals.h"

namespace epi::analysis {

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
IdleCauses idle_causes(const Examined& examined, const HostTimeline& host,
                       const WindowedWork& windowed, const OtherWork& others);
// The same for each of so many equal parts of the window, one behind the other.
std::vector<IdleCauses> idle_over_time(const Examined& examined, const HostTimeline& host,
                                       const WindowedWork& windowed, size_t parts);

}  // namespace epi::analysis
