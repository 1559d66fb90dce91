// SPDX-License-Identifier: Apache-2.0
// What a trace says beside what happened: the names of its processes and threads, the machine, what
// was recorded.
#pragma once

#include <map>
#include <string>

#include "epilogue/profile/args_text.h"
#include "epilogue/profile/event_recorder.h"
#include "epilogue/profile/gpu_lane.h"
#include "epilogue/trace/trace.h"

namespace epi::profile {

struct TraceFacts {
  const Recording& recording;
  int64_t pid = 0;
  int64_t begin_ns = 0;  // of the trace's clock
  const std::map<trace::LaneId, std::string>& thread_names;
  const GpuLane& gpu;
  bool has_cpu_kernels = false;

  // A CPU's kernels have a lane of their own, unless all kernels ran on a GPU.
  bool has_cpu_lane() const { return has_cpu_kernels || gpu.streams.empty(); }
};

void describe_trace(trace::Trace& trace, ArgsText& args, const TraceFacts& facts);

}  // namespace epi::profile
