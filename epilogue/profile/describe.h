// SPDX-License-Identifier: Apache-2.0
// Adds metadata to a trace: names of processes and threads, the machine, the recording options.
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
  int64_t begin_ns = 0;  // in the trace's clock
  const std::map<trace::LaneId, std::string>& thread_names;
  const GpuLane& gpu;
  bool has_cpu_kernels = false;

  // CPU kernels have a separate lane unless all kernels ran on a GPU.
  bool has_cpu_lane() const { return has_cpu_kernels || gpu.streams.empty(); }
};

void describe_trace(trace::Trace& trace, ArgsText& args, const TraceFacts& facts);

}  // namespace epi::profile
