// SPDX-License-Identifier: Apache-2.0
// The GPU work behind each host event: what an operator launches on its own thread, and what a
// step or annotation owns on all threads.
#pragma once

#include <cstdint>
#include <vector>

#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

struct LaunchedWork {
  int64_t ns = 0;  // sum of durations
  int64_t count = 0;
};
// By event; zero for events that are not on the host.
std::vector<LaunchedWork> launched_work(const TraceIndex& index);

}  // namespace epi::analysis
