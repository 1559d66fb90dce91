// SPDX-License-Identifier: Apache-2.0
// The forwards of `epilogue run`: warming up, recorded, and timed.
#pragma once

#include <functional>
#include <vector>

#include "epilogue/cli/progress.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/device.h"

namespace epi::cli {

// One forward inside its annotation.
using Forward = std::function<void()>;

// Returns when everything that was started on `device` is done.
void wait_for(Device device);

// Nanoseconds of one of `calls` forwards that follow each other, until the device has done them
// all.
double timed(const Forward& forward, int64_t calls, Device device);

void warm_up(const Forward& forward, int64_t count, Progress& progress);
// For at least so long: clocks rise and threads wake up over milliseconds.
void warm_up_for(const Forward& forward, double ns, Device device);

// The trace of the schedule's active steps, one forward each.
trace::Trace recorded_forwards(const Forward& forward, const profile::Schedule& schedule,
                               Progress& progress);

// Sorted, in nanoseconds.
struct ForwardTimes {
  std::vector<double> forward_ns;  // of one forward
  int64_t in_a_row = 1;            // each is the mean of so many
  std::vector<double> issue_ns{};  // what one takes the CPU to start; empty where it does the work
};

struct Spread {
  double median = 0;
  double p10 = 0;
  double p90 = 0;
};
Spread spread_of(std::vector<double> values);
// By how much `after` is shorter than `before`, turn by turn.
Spread saving_of(const std::vector<double>& before_ns, const std::vector<double>& after_ns);

// What a forward of each takes, in nanoseconds, a value a turn. They take turns, so that what
// disturbs the machine disturbs all of them; `total_ns` for all turns together.
std::vector<std::vector<double>> times_in_turns(const std::vector<Forward>& forwards, Device device,
                                                double total_ns, Progress& progress);

// At least five times; more of them while they stay within a second.
ForwardTimes timed_forwards(const Forward& forward, Device device, Progress& progress);

}  // namespace epi::cli
