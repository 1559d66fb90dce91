// SPDX-License-Identifier: Apache-2.0
// What belongs together in a GPU's records: which call started which work, which operator made
// which call, what the work costs, and by how much the GPU's clock must be moved.
#pragma once

#include <span>
#include <vector>

#include "epilogue/ops/hooks.h"
#include "epilogue/profile/gpu_records.h"
#include "epilogue/profile/op_ranges.h"

namespace epi::profile {

// One launch_begin of a thread's log.
struct Launch {
  uint64_t id = 0;
  trace::EventId range = trace::kNoEvent;  // the innermost one that was open
  LaunchCost cost{};
};

// The time that a recording covers, and where it lies in its trace.
struct TimeWindow {
  int64_t begin_ns = 0;  // of now_ns()
  int64_t end_ns = 0;
  int64_t to_trace_ns = 0;  // from now_ns() to the trace's clock
};

inline constexpr uint32_t kNowhere = UINT32_MAX;

struct GpuLinks {
  // By place in GpuRecords::calls.
  std::vector<bool> shown;
  std::vector<bool> starts_work;
  std::vector<trace::EventId> op;  // operator, annotation or step; kNoEvent
  // By place in GpuRecords::work.
  std::vector<uint32_t> call;    // its place; kNowhere: it was made outside the recording
  std::vector<uint32_t> launch;  // whose cost this kernel has: its place; kNowhere
  // To be added to every time of a device, so that nothing starts before its call does.
  int64_t shift_ns = 0;
};

// `records.work` is in the order in which it started, `launches` by their ids.
GpuLinks link_gpu(const GpuRecords& records, std::span<const Launch> launches,
                  const OpRanges& ranges, const TimeWindow& window);

}  // namespace epi::profile
