// SPDX-License-Identifier: Apache-2.0
// A trace with everything that questions about it need, made once: links between launches and
// kernels, what each step owns, kernel names decoded. Every analysis takes one.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "epilogue/analysis/index/decoded_names.h"
#include "epilogue/analysis/index/steps.h"
#include "epilogue/trace/links.h"
#include "epilogue/trace/trace.h"

namespace epi::analysis {

// The trace must outlive it.
struct TraceIndex {
  explicit TraceIndex(const trace::Trace& trace_in);

  // Host events of one lane that begin in [begin, end], as a part of `links.tree.order`.
  std::span<const trace::EventId> host_between(trace::LaneId lane, int64_t begin_ns,
                                               int64_t end_ns) const;

  const trace::Trace& trace;
  trace::Links links;
  Ownership ownership;
  DecodedNames names;
  // Where each lane's host events lie in `links.tree.order`; empty for lanes without any.
  std::vector<std::pair<size_t, size_t>> lane_ranges;
};

}  // namespace epi::analysis
