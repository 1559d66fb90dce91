// SPDX-License-Identifier: Apache-2.0
// The steps of a schedule as the profiler notes them.
#pragma once

#include <cstdint>

namespace epi::profile {

// One step of a schedule: `ProfilerStep#<number>` of the trace.
struct StepSpan {
  int64_t number = 0;
  int64_t begin_ns = 0;  // of now_ns()
  int64_t end_ns = 0;
  int64_t tid = 0;
};

}  // namespace epi::profile
