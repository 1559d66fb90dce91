// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/op_tree.h"

#include "epilogue/base/thread_pool.h"
#include "epilogue/trace/natural_merge.h"

namespace epi::trace {
namespace {

// The start of an event, stored next to its id for locality.
struct Start {
  int64_t ts_ns;
  EventId id;
};

// Sorts by start, longer events first. If both are equal, the profiler gave the outer event the
// lower external id. Events without an id stay in file order.
struct ComesBefore {
  const Trace& trace;

  bool operator()(const Start& a, const Start& b) const {
    if (a.ts_ns != b.ts_ns) return a.ts_ns < b.ts_ns;
    if (trace.dur_ns[a.id] != trace.dur_ns[b.id]) return trace.dur_ns[a.id] > trace.dur_ns[b.id];
    return trace.external_id[a.id] < trace.external_id[b.id];
  }
};

}  // namespace

std::vector<EventId> host_order(const Trace& trace, const std::vector<LaneId>& lanes) {
  std::vector<std::vector<Start>> by_lane(trace.lanes.size());
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.is_span(id) && is_host(trace.category[id])) {
      by_lane[lanes[id]].push_back({trace.ts_ns[id], id});
    }
  }
  parallel_for(static_cast<int64_t>(by_lane.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      auto& starts = by_lane[static_cast<size_t>(i)];
      starts = natural_merge(std::move(starts), ComesBefore{trace});
    }
  });
  size_t count = 0;
  for (const auto& starts : by_lane) count += starts.size();
  std::vector<EventId> order;
  order.reserve(count);
  for (auto& starts : by_lane) {
    for (const Start& start : starts) order.push_back(start.id);
    starts = std::vector<Start>();
  }
  return order;
}

OpTree build_op_tree(const Trace& trace) { return build_op_tree(trace, trace.lane); }

OpTree build_op_tree(const Trace& trace, const std::vector<LaneId>& lanes) {
  OpTree tree{host_order(trace, lanes), std::vector<EventId>(trace.size(), kNoEvent),
              std::vector<int64_t>(trace.size(), 0)};
  std::vector<EventId> open;
  for (const EventId id : tree.order) {
    tree.self_ns[id] = trace.dur_ns[id];
    const auto encloses = [&](EventId outer) {
      return lanes[outer] == lanes[id] && trace.ts_ns[id] < trace.end_ns(outer) &&
             trace.end_ns(id) <= trace.end_ns(outer);
    };
    while (!open.empty() && !encloses(open.back())) open.pop_back();
    if (!open.empty()) {
      tree.parent[id] = open.back();
      tree.self_ns[open.back()] -= trace.dur_ns[id];
    }
    open.push_back(id);
  }
  return tree;
}

}  // namespace epi::trace
