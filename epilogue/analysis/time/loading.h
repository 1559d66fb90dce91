// SPDX-License-Identifier: Apache-2.0
// DataLoader activity in a window: number of fetches, their time, and the Python function that
// takes most of it.
#pragma once

#include <cstdint>
#include <string>

#include "epilogue/analysis/index/intervals.h"
#include "epilogue/analysis/index/trace_index.h"

namespace epi::analysis {

struct Loading {
  int64_t fetches = 0;
  int64_t ns = 0;
  std::string loader;  // "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"
  // The innermost Python function that takes at least half of the time. Empty if stacks were not
  // recorded.
  std::string function;
  int64_t function_ns = 0;
};

Loading loading_in(const TraceIndex& index, const Interval& window);

}  // namespace epi::analysis
