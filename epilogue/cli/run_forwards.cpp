// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run_forwards.h"

#include <algorithm>

#include "epilogue/ops/hooks.h"

namespace epi::cli {
namespace {

constexpr size_t kFewestForwards = 5;
constexpr size_t kMostForwards = 1000;
constexpr double kBudgetNs = 1e9;

}  // namespace

void warm_up(const Forward& forward, int64_t count, Progress& progress) {
  for (int64_t i = 0; i < count; ++i) {
    progress.show("warm-up", static_cast<size_t>(i) + 1);
    forward();
  }
}

trace::Trace recorded_forwards(const Forward& forward, const profile::Schedule& schedule,
                               Progress& progress) {
  profile::Profiler profiler({.record_shapes = true, .schedule = schedule});
  const int64_t steps = schedule.wait + schedule.warmup + schedule.active;
  for (int64_t i = 0; i < steps; ++i) {
    progress.show("recorded forward", static_cast<size_t>(i) + 1);
    forward();
    profiler.step();
  }
  return profiler.take_trace();
}

std::vector<double> timed_forwards(const Forward& forward, Progress& progress) {
  std::vector<double> times_ns;
  double total_ns = 0;
  while (times_ns.size() < kFewestForwards ||
         (total_ns < kBudgetNs && times_ns.size() < kMostForwards)) {
    progress.show("forward", times_ns.size() + 1);
    const int64_t start_ns = now_ns();
    forward();
    times_ns.push_back(static_cast<double>(now_ns() - start_ns));
    total_ns += times_ns.back();
  }
  std::sort(times_ns.begin(), times_ns.end());
  return times_ns;
}

}  // namespace epi::cli
