// SPDX-License-Identifier: Apache-2.0
// Runs the forwards of `run`, `bench` and `tour`: warm-up, recorded by the profiler, and timed
// without it.
#pragma once

#include <functional>
#include <vector>

#include "epilogue/cli/progress.h"
#include "epilogue/profile/profiler.h"
#include "epilogue/tensor/device.h"

namespace epi::cli {

// One forward inside its annotation.
using Forward = std::function<void()>;

// Waits until all work launched on `device` has finished. Returns at once for the CPU.
void wait_for(Device device);

// Mean nanoseconds per forward over `calls` back-to-back forwards, including the wait for the
// device at the end.
double timed(const Forward& forward, int64_t calls, Device device);

void warm_up(const Forward& forward, int64_t count, Progress& progress);
// Runs for at least `ns`: clocks take milliseconds to ramp up, and threads to wake.
void warm_up_for(const Forward& forward, double ns, Device device);

// Records one forward per step and returns the trace of the schedule's active steps.
trace::Trace recorded_forwards(const Forward& forward, const profile::Schedule& schedule,
                               Progress& progress);

// Both lists are sorted.
struct ForwardTimes {
  std::vector<double> forward_ns;   // time per forward
  int64_t calls_per_sample = 1;     // each value is the mean of this many back-to-back forwards
  std::vector<double> launch_ns{};  // host time to launch one forward; empty on the CPU
};

struct Spread {
  double median = 0;
  double p10 = 0;
  double p90 = 0;
};
Spread spread_of(std::vector<double> values);
// `before_ns` minus `after_ns`, per round.
Spread saving_of(const std::vector<double>& before_ns, const std::vector<double>& after_ns);

// Time per forward of each function, one value per round. The functions run in interleaved rounds,
// so that noise affects all of them alike. All rounds together take about `total_ns`.
std::vector<std::vector<double>> interleaved_times(const std::vector<Forward>& forwards,
                                                   Device device, double total_ns,
                                                   Progress& progress);

// At least 5 and at most 1000 samples, for about a second.
ForwardTimes timed_forwards(const Forward& forward, Device device, Progress& progress);

}  // namespace epi::cli
