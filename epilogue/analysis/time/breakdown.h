// SPDX-License-Identifier: Apache-2.0
// Where a device's time goes: compute, communication, copies and idle, as unions of intervals that
// add up to the window. Also attributes each idle interval to its cause.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/time/idle.h"

namespace epi::analysis {

// compute + exposed communication + exposed memory + idle = window.
struct TimeShares {
  int64_t window_ns = 0;
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;          // total
  int64_t exposed_communication_ns = 0;  // not overlapped by compute
  int64_t memory_ns = 0;                 // copies and memsets, total
  int64_t exposed_memory_ns = 0;         // not overlapped by compute or communication
  int64_t idle_ns = 0;

  int64_t busy_ns() const { return window_ns - idle_ns; }
};

struct StreamBreakdown {
  int64_t stream = 0;
  int64_t gpu_events = 0;
  TimeShares shares;
  IdleCauses idle;
};

struct StepBreakdown {
  std::string name;
  bool cold = false;
  Interval window;
  TimeShares shares;
  IdleCauses idle;
};

struct KindTime {
  std::string kind;  // "gemm"; empty: unknown
  int64_t count = 0;
  int64_t ns = 0;
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
};

struct DeviceBreakdown {
  int64_t device = 0;         // the process id of its lanes
  TimeShares shares;          // from the first start to the last end of its work
  std::vector<IdleGap> gaps;  // every idle interval with its cause
  IdleCauses idle;            // sum over `gaps`
  int64_t begin_ns = 0;
  std::vector<IdleCauses> over_time;  // `parts` equal parts of the window
  std::vector<StreamBreakdown> streams;
  std::vector<StepBreakdown> steps;
  std::vector<KindTime> kinds;  // largest first
  LaunchStatistics launches;
  int64_t kernels = 0;
  int64_t short_kernels = 0;
  int64_t short_ns = 0;
  std::vector<CopyTime> copies;
};

// More devices are not in one machine. Each has a row per step, so their number is limited.
inline constexpr size_t kMaxDevices = 64;

// One entry per device with work, by number, of the `kMaxDevices` with the most work. Counts
// kManyDevices if there are more. `parts` is the resolution of `over_time`.
std::vector<DeviceBreakdown> breakdown(const TraceIndex& index, size_t parts = 0);

}  // namespace epi::analysis
