// SPDX-License-Identifier: Apache-2.0
// Links GPU records: which API call launched which work, which operator made which call, the cost
// of the work, and by how much the GPU's times must be shifted.
#pragma once

#include <span>
#include <vector>

#include "epilogue/ops/hooks.h"
#include "epilogue/profile/gpu_records.h"
#include "epilogue/profile/op_ranges.h"

namespace epi::profile {

// A launch_begin entry in a thread's log.
struct Launch {
  uint64_t id = 0;
  trace::EventId range = trace::kNoEvent;  // the innermost open range
  LaunchCost cost{};
};

// The time span of a recording, and its offset in the trace.
struct TimeWindow {
  int64_t begin_ns = 0;  // in now_ns() time
  int64_t end_ns = 0;
  int64_t to_trace_ns = 0;  // added to now_ns() times to get trace times
};

inline constexpr uint32_t kNoIndex = UINT32_MAX;

struct GpuLinks {
  // By index in GpuRecords::calls.
  std::vector<bool> shown;
  std::vector<bool> starts_work;
  std::vector<trace::EventId> op;  // operator, annotation or step; kNoEvent
  // By index in GpuRecords::work.
  std::vector<uint32_t> call;    // index of the call; kNoIndex: made outside the recording
  std::vector<uint32_t> launch;  // index of the launch whose cost this kernel has; or kNoIndex
  // To be added to all GPU times so that no work starts before the call that launched it.
  int64_t shift_ns = 0;
};

// `records.work` must be sorted by start time and `launches` by id.
GpuLinks link_gpu(const GpuRecords& records, std::span<const Launch> launches,
                  const OpRanges& ranges, const TimeWindow& window);

}  // namespace epi::profile
