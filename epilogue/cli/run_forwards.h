// SPDX-License-Identifier: Apache-2.0
// The forwards of `epilogue run`: warming up, recorded, and timed.
#pragma once

#include <functional>
#include <vector>

#include "epilogue/cli/progress.h"
#include "epilogue/profile/profiler.h"

namespace epi::cli {

// One forward inside its annotation.
using Forward = std::function<void()>;

void warm_up(const Forward& forward, int64_t count, Progress& progress);

// The trace of the schedule's active steps, one forward each.
trace::Trace recorded_forwards(const Forward& forward, const profile::Schedule& schedule,
                               Progress& progress);

// Nanoseconds of at least five forwards, sorted; more of them while they stay within a second.
std::vector<double> timed_forwards(const Forward& forward, Progress& progress);

}  // namespace epi::cli
