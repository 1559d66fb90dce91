// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "epilogue/trace/trace.h"

namespace epi::report {

// The start of the first event, from which trace viewers count time. 0 for an empty trace.
inline int64_t trace_start_ns(const trace::Trace& trace) {
  int64_t start = INT64_MAX;
  for (trace::EventId id = 0; id < trace.size(); ++id) {
    if (trace.is_span(id)) start = std::min(start, trace.ts_ns[id]);
  }
  return start == INT64_MAX ? 0 : start;
}

}  // namespace epi::report
