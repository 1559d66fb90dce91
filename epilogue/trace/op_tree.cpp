// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/op_tree.h"

#include "epilogue/base/thread_pool.h"
#include "epilogue/trace/natural_merge.h"

namespace epi::trace {
namespace {

// The sort key of an event, stored contiguously for locality.
struct SortKey {
  int64_t ts_ns;
  int64_t dur_ns;
  int64_t external_id;
  EventId id;
};

// Sorts by start, longer events first. If both are equal, the profiler gave the outer event the
// lower external id. Events without an id stay in file order.
bool comes_before(const SortKey& a, const SortKey& b) {
  if (a.ts_ns != b.ts_ns) return a.ts_ns < b.ts_ns;
  return a.dur_ns != b.dur_ns ? a.dur_ns > b.dur_ns : a.external_id < b.external_id;
}

}  // namespace

std::vector<EventId> host_order(const Trace& trace, const std::vector<LaneId>& lanes) {
  std::vector<std::vector<SortKey>> by_lane(trace.lanes.size());
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.is_span(id) && is_host(trace.category[id])) {
      by_lane[lanes[id]].push_back({trace.ts_ns[id], trace.dur_ns[id], trace.external_id[id], id});
    }
  }
  parallel_for(static_cast<int64_t>(by_lane.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      auto& keys = by_lane[static_cast<size_t>(i)];
      keys = natural_merge(std::move(keys), comes_before);
    }
  });
  size_t count = 0;
  for (const auto& keys : by_lane) count += keys.size();
  std::vector<EventId> order;
  order.reserve(count);
  for (auto& keys : by_lane) {
    for (const SortKey& key : keys) order.push_back(key.id);
    keys = {};
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
