// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cli/run/run_forwards.h"

#include <algorithm>
#include <cmath>

#include "epilogue/cuda/cuda_device.h"
#include "epilogue/ops/hooks.h"

namespace epi::cli {
namespace {

constexpr size_t kMinForwards = 5;
constexpr size_t kMaxForwards = 1000;
constexpr double kBudgetNs = 1e9;
// On a GPU, a sample is a run of forwards of about 2 ms, far above the cost of the synchronization
// at its end.
constexpr double kSampleNs = 2e6;
constexpr size_t kLaunchSamples = 101;

constexpr double kRoundNs = 2e6;  // per round, for the first function: far above the clock's noise
constexpr int kMinRounds = 9;
constexpr int kMaxRounds = 101;

int64_t calls_per_sample(const Forward& forward, Device device) {
  const double one_ns = timed(forward, 8, device);
  return std::clamp<int64_t>(std::llround(kSampleNs / one_ns), 1, 1000);
}

// Synchronizes before each forward, so that the host never waits for a full launch queue.
std::vector<double> launch_times(const Forward& forward, Device device) {
  std::vector<double> times_ns;
  for (size_t i = 0; i < kLaunchSamples; ++i) {
    wait_for(device);
    const int64_t start_ns = now_ns();
    forward();
    times_ns.push_back(static_cast<double>(now_ns() - start_ns));
  }
  std::sort(times_ns.begin(), times_ns.end());
  return times_ns;
}

}  // namespace

void wait_for(Device device) {
  if (device != kCpu) cuda::synchronize(device.index);
}

double timed(const Forward& forward, int64_t calls, Device device) {
  wait_for(device);
  const int64_t start_ns = now_ns();
  for (int64_t i = 0; i < calls; ++i) forward();
  wait_for(device);
  return static_cast<double>(now_ns() - start_ns) / static_cast<double>(calls);
}

void warm_up(const Forward& forward, int64_t count, Progress& progress) {
  for (int64_t i = 0; i < count; ++i) {
    progress.show("warm-up", static_cast<size_t>(i) + 1);
    forward();
  }
}

void warm_up_for(const Forward& forward, double ns, Device device) {
  const int64_t start_ns = now_ns();
  while (static_cast<double>(now_ns() - start_ns) < ns) {
    forward();
    wait_for(device);
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

Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = [&](double place) { return values[static_cast<size_t>(place)]; };
  // Rounded outwards at both ends, so that "nine of ten rounds agree" is equally strict on either
  // side.
  return {at(0.5 * last), at(std::floor(0.1 * last)), at(std::ceil(0.9 * last))};
}

Spread saving_of(const std::vector<double>& before_ns, const std::vector<double>& after_ns) {
  std::vector<double> saved;
  for (size_t i = 0; i < before_ns.size(); ++i) saved.push_back(before_ns[i] - after_ns[i]);
  return spread_of(std::move(saved));
}

std::vector<std::vector<double>> interleaved_times(const std::vector<Forward>& forwards,
                                                   Device device, double total_ns,
                                                   Progress& progress) {
  for (const Forward& forward : forwards) forward();
  double round_ns = 0;
  for (const Forward& forward : forwards) round_ns += timed(forward, 1, device);
  const auto calls =
      std::max<int64_t>(1, std::llround(kRoundNs / std::max(timed(forwards[0], 3, device), 1.0)));
  const int rounds = std::clamp(
      static_cast<int>(total_ns / (round_ns * static_cast<double>(calls))), kMinRounds, kMaxRounds);
  std::vector<std::vector<double>> times_ns(forwards.size());
  for (int round = 0; round < rounds; ++round) {
    progress.show("round", static_cast<size_t>(round) + 1);
    for (size_t i = 0; i < forwards.size(); ++i) {
      forwards[i]();  // warms the caches after the other functions
      times_ns[i].push_back(timed(forwards[i], calls, device));
    }
  }
  return times_ns;
}

ForwardTimes timed_forwards(const Forward& forward, Device device, Progress& progress) {
  ForwardTimes times;
  if (device != kCpu) {
    times.calls_per_sample = calls_per_sample(forward, device);
    times.launch_ns = launch_times(forward, device);
  }
  double total_ns = 0;
  while (times.forward_ns.size() < kMinForwards ||
         (total_ns < kBudgetNs && times.forward_ns.size() < kMaxForwards)) {
    progress.show("forward", times.forward_ns.size() + 1);
    times.forward_ns.push_back(timed(forward, times.calls_per_sample, device));
    total_ns += times.forward_ns.back() * static_cast<double>(times.calls_per_sample);
  }
  std::sort(times.forward_ns.begin(), times.forward_ns.end());
  return times;
}

}  // namespace epi::cli
