// SPDX-License-Identifier: Apache-2.0
// What a DataLoader did in a window: how often, how long, and in which function of Python.
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
  // The innermost function of Python that takes at least half of it; empty where stacks were not
  // recorded.
  std::string function;
  int64_t function_ns = 0;
};

Loading loading_in(const TraceIndex& index, const Interval& window);

}  // namespace epi::analysis
