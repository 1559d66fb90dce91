// SPDX-License-Identifier: Apache-2.0
// The recorded steps of a schedule.
#pragma once

#include <cstdint>

namespace epi::profile {

// One step: `ProfilerStep#<number>` in the trace.
struct StepSpan {
  int64_t number = 0;
  int64_t begin_ns = 0;  // in now_ns() time
  int64_t end_ns = 0;
  int64_t tid = 0;
};

}  // namespace epi::profile
