// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/trace_index.h"

#include <algorithm>

namespace epi::analysis {

using trace::EventId;

TraceIndex::TraceIndex(const trace::Trace& trace_in)
    : trace(trace_in),
      links(trace::link(trace_in)),
      ownership(trace_in, links),
      names(trace_in),
      lane_ranges(trace_in.lanes.size()) {
  names.take_kinds_of_ops(trace, links);
  const auto& order = links.tree.order;
  for (size_t i = 0; i < order.size(); ++i) {
    auto& [first, last] = lane_ranges[trace.lane[order[i]]];
    if (first == last) first = i;
    last = i + 1;
  }
}

std::span<const EventId> TraceIndex::host_between(trace::LaneId lane, int64_t begin_ns,
                                                  int64_t end_ns) const {
  const auto [first, last] = lane_ranges[lane];
  const auto begin = links.tree.order.begin();
  const auto from = std::lower_bound(begin + static_cast<std::ptrdiff_t>(first),
                                     begin + static_cast<std::ptrdiff_t>(last), begin_ns,
                                     [&](EventId id, int64_t ns) { return trace.ts_ns[id] < ns; });
  const auto to = std::upper_bound(from, begin + static_cast<std::ptrdiff_t>(last), end_ns,
                                   [&](int64_t ns, EventId id) { return ns < trace.ts_ns[id]; });
  return {from, to};
}

}  // namespace epi::analysis
