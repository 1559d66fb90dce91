// SPDX-License-Identifier: Apache-2.0
// Where a device's time goes: compute, communication, copies, idle, as unions of intervals that add
// up to the window; and what each idle moment waited for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/time/idle.h"

namespace epi::analysis {

// compute + exposed communication + exposed copies + idle is the window.
struct TimeShares {
  int64_t window_ns = 0;
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;          // all of it
  int64_t exposed_communication_ns = 0;  // without compute at the same time
  int64_t memory_ns = 0;                 // copies and sets, all of them
  int64_t exposed_memory_ns = 0;         // without either at the same time
  int64_t idle_ns = 0;

  int64_t busy_ns() const { return window_ns - idle_ns; }
};

struct StreamBreakdown {
  int64_t stream = 0;
  int64_t works = 0;
  TimeShares shares;
  IdleCauses idle;
};

struct StepBreakdown {
  std::string name;
  bool cold = false;
  TimeShares shares;
  IdleCauses idle;
};

struct KindTime {
  std::string kind;  // "gemm"; empty: nothing is known of it
  int64_t count = 0;
  int64_t ns = 0;
};

// From the start of a launch to the start of its work; and works that were launched and not begun
// when another was launched.
struct LaunchStatistics {
  int64_t launches = 0;
  int64_t delay_median_ns = 0;
  int64_t delay_p90_ns = 0;
  int64_t queue_median = 0;
  int64_t queue_most = 0;
};

// Shorter than a launch takes the CPU, about 5 us: a device that runs many of them waits for it.
inline constexpr int64_t kShortNs = 5000;

struct CopyTime {
  std::string name;  // "Memcpy HtoD (Pageable -> Device)"
  int64_t count = 0;
  int64_t ns = 0;
  int64_t bytes = 0;
};

struct DeviceBreakdown {
  int64_t device = 0;         // the process id of its lanes
  TimeShares shares;          // from its first work to its last
  std::vector<IdleGap> gaps;  // each idle time, with its cause
  IdleCauses idle;            // their sum
  int64_t begin_ns = 0;
  std::vector<IdleCauses> over_time;  // of equal parts of the window; as many as were asked for
  std::vector<StreamBreakdown> streams;
  std::vector<StepBreakdown> steps;
  std::vector<KindTime> kinds;  // the largest first
  LaunchStatistics launches;
  int64_t kernels = 0;
  int64_t short_kernels = 0;
  int64_t short_ns = 0;
  std::vector<CopyTime> copies;
};

// One for each device that has work, by number. `parts` is how finely idle time is told over time.
std::vector<DeviceBreakdown> breakdown(const TraceIndex& index, size_t parts = 0);

}  // namespace epi::analysis
