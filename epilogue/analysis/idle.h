// SPDX-License-Identifier: Apache-2.0
// Gaps in a device's work, and what the work behind each waited for.
#pragma once

#include <span>

#include "epilogue/analysis/breakdown.h"
#include "epilogue/analysis/intervals.h"

namespace epi::analysis {

// Work that one question is about, by when it begins, in a window that holds all of it.
struct WindowedWork {
  std::span<const trace::EventId> work;
  Interval window;
};

// Adds the window's idle moments up by cause. `others` is other work of the device, a set: a moment
// in it is `other_ns`'s, of a stream for gaps that no launch is late for, of a step for all.
struct OtherWork {
  const Intervals* busy = nullptr;
  int64_t IdleCauses::* cause = nullptr;
  bool only_when_launched = false;
};
IdleCauses idle_causes(const Examined& examined, const HostTimeline& host,
                       const WindowedWork& windowed, const OtherWork& others);

}  // namespace epi::analysis
