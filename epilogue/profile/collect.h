// SPDX-License-Identifier: Apache-2.0
// The logs of a recording, merged into a trace.
#pragma once

#include "epilogue/profile/event_recorder.h"
#include "epilogue/trace/trace.h"

namespace epi::profile {

// One step of a schedule: `ProfilerStep#<number>` of the trace.
struct StepSpan {
  int64_t number = 0;
  int64_t begin_ns = 0;  // of now_ns()
  int64_t end_ns = 0;
  int64_t tid = 0;
};

// The process of the CPU's kernels: above every process id of Linux (at most 2^22) and every index
// of a device, which other traces use.
inline constexpr int64_t kCpuKernelsPid = int64_t{1} << 23;

// Takes the recording apart: logs are given back as they are read.
trace::Trace collect(Recording recording, const std::vector<StepSpan>& steps);

}  // namespace epi::profile
