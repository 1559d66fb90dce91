// SPDX-License-Identifier: Apache-2.0
// What one step, annotation or operator took, on the host and on each device. docs/measures.md
// defines every measure. All verbs read these numbers and compute none of them again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/index/instances.h"

namespace epi::analysis {

// compute + exposed communication + exposed copies = busy, and busy + others + idle = window.
struct TimeShares {
  int64_t window_ns = 0;
  int64_t busy_ns = 0;
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;          // total
  int64_t exposed_communication_ns = 0;  // not overlapped by compute
  int64_t copies_ns = 0;                 // copies and memsets, total
  int64_t exposed_copies_ns = 0;         // not overlapped by compute or communication
  int64_t others_ns = 0;                 // only work of others runs
  int64_t idle_ns = 0;                   // nothing runs
};

struct StepModel {
  trace::EventId event = trace::kNoEvent;  // kNoEvent for the whole trace
  std::string_view name;
  Interval host;
  Interval window;
  Owned owned;
  bool cold = false;

  int64_t cpu_ns = 0;
  int64_t step_ns = 0;     // of the window
  int64_t latency_ns = 0;  // from the start on the host to the end of the window
  std::optional<int64_t> period_ns;
  int64_t gpu_ns = 0;
  int64_t busy_ns = 0;  // this and the next two: on the shown device
  int64_t others_ns = 0;
  int64_t idle_ns = 0;
  int64_t kernels = 0;
  int64_t memcpys = 0;
  int64_t memsets = 0;
  int64_t launches = 0;
  int64_t lost_launches = 0;
  int64_t syncs = 0;

  double busy_share() const {
    return step_ns == 0 ? 0 : static_cast<double>(busy_ns) / static_cast<double>(step_ns);
  }
  double idle_share() const {
    return step_ns == 0 ? 0 : static_cast<double>(idle_ns) / static_cast<double>(step_ns);
  }
};

// The median of each measure over a group. They are medians over the instances, not derived from
// the other medians.
struct MedianMeasures {
  double cpu_ns = 0;
  double step_ns = 0;
  double gpu_ns = 0;
  double busy_ns = 0;
  double busy_share = 0;
  double others_ns = 0;
  double idle_ns = 0;
  double kernels = 0;
  double memcpys = 0;
  double memsets = 0;
  double launches = 0;
  int64_t kernels_min = 0;
  int64_t kernels_max = 0;
};

// The steps of a trace, or the instances of one annotation or operator, by start.
struct StepGroup {
  std::string name;
  std::vector<StepModel> steps;
  bool of_ops = false;
  std::shared_ptr<const void> lists = nullptr;  // of InstanceGroup

  // The trace marks no steps: the only instance is the whole trace.
  bool is_whole_trace() const { return steps.size() == 1 && steps[0].event == trace::kNoEvent; }
  bool has_work() const;
  // The index of the shown step: the warm one with the median step time. The group must not be
  // empty.
  size_t shown() const;
  // The indices of the warm steps, without those that have no device work if any has.
  std::vector<size_t> warm() const;
  MedianMeasures medians() const;
};

// The place of the median step time among those that are candidates, and of the faster of the two
// in the middle. There must be a candidate.
size_t median_place(const std::vector<int64_t>& step_ns, std::vector<size_t> candidates);
// A step time of more than this many times the median is cold.
inline constexpr double kColdFactor = 2;

}  // namespace epi::analysis
