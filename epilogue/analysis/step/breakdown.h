// SPDX-License-Identifier: Apache-2.0
// Where a device's time goes: compute, communication, copies and idle, as unions of intervals that
// add up to the window. Also attributes each idle interval to its cause.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/analysis/step/step_models.h"

namespace epi::analysis {

// In the window of the device. Others: only other streams run.
struct StreamBreakdown : TimeShares {
  int64_t stream = 0;
  int64_t gpu_events = 0;
};

// In the window of the step.
struct StepBreakdown : TimeShares {
  std::string_view name;
  bool cold = false;
  IdleCauses idle;
};

struct KindTime {
  std::string kind;  // "gemm"; empty: unknown
  int64_t count = 0;
  int64_t ns = 0;
  double share = 0;  // of all GPU events
};

// Launch delay: from the start of a launch to the start of its work. Queue depth: work that was
// launched and not yet started at the time of a launch.
struct LaunchStatistics {
  int64_t launches = 0;
  int64_t delay_median_ns = 0;
  int64_t delay_p90_ns = 0;
  int64_t queue_median = 0;
  int64_t queue_max = 0;
};

// Kernels shorter than the CPU's launch cost of about 5 us. A device that runs many of them waits
// for the CPU.
inline constexpr int64_t kShortNs = 5000;

struct CopyTime {
  std::string name;  // "Memcpy HtoD (Pageable -> Device)"
  int64_t count = 0;
  int64_t ns = 0;
  int64_t bytes = 0;

  // None if they took no time.
  std::optional<double> bytes_per_ns() const {
    if (ns <= 0) return std::nullopt;
    return static_cast<double>(bytes) / static_cast<double>(ns);
  }
};

struct DeviceBreakdown {
  int64_t device = 0;  // the process id of its lanes
  Interval window;     // from the first start to the last end of its work
  TimeShares shares;
  std::vector<IdleGap> gaps;  // every idle interval in the window, with its cause
  IdleCauses idle;            // sum over `gaps`
  std::vector<StreamBreakdown> streams;
  std::vector<StepBreakdown> steps;
  std::vector<KindTime> kinds;  // largest first
  LaunchStatistics launches;
  int64_t kernels = 0;
  int64_t short_kernels = 0;
  int64_t short_ns = 0;
  std::vector<CopyTime> copies;
};

// One entry per device with work.
std::vector<DeviceBreakdown> breakdown(const StepModels& models);

}  // namespace epi::analysis
