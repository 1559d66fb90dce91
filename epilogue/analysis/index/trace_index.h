// SPDX-License-Identifier: Apache-2.0
// A trace with the data that every analysis needs, computed once: links between launches and
// kernels, ownership of steps, decoded kernel names.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "epilogue/analysis/index/decoded_names.h"
#include "epilogue/analysis/index/ownership.h"
#include "epilogue/analysis/index/reached_limits.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

// The trace must outlive it.
struct TraceIndex {
  explicit TraceIndex(const trace::Trace& trace_in);

  // Host events of one lane that start in [begin, end], as a range of `links.tree.order`.
  std::span<const trace::EventId> host_between(trace::LaneId lane, int64_t begin_ns,
                                               int64_t end_ns) const;

  const trace::Trace& trace;
  trace::Links links;
  Ownership ownership;
  DecodedNames names;
  // Each lane's range of host events in `links.tree.order`. Empty for lanes without host events.
  std::vector<std::pair<size_t, size_t>> lane_ranges;
  ReachedLimits limits;  // by the analyses of this trace
};

}  // namespace epi::analysis
