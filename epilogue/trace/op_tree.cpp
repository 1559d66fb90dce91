// SPDX-License-Identifier: Apache-2.0
#include "epilogue/trace/op_tree.h"

#include <algorithm>

namespace epi::trace {
namespace {

// By lane; then by begin, the longer first; equal ones stay in the file's order, which has parents
// first.
std::vector<EventId> host_order(const Trace& trace) {
  std::vector<EventId> order;
  for (EventId id = 0; id < trace.size(); ++id) {
    if (trace.is_span(id) && is_host(trace.category[id])) order.push_back(id);
  }
  const auto before = [&](EventId a, EventId b) {
    if (trace.lane[a] != trace.lane[b]) return trace.lane[a] < trace.lane[b];
    if (trace.ts_ns[a] != trace.ts_ns[b]) return trace.ts_ns[a] < trace.ts_ns[b];
    return trace.dur_ns[a] > trace.dur_ns[b];
  };
  if (!std::is_sorted(order.begin(), order.end(), before)) {
    std::stable_sort(order.begin(), order.end(), before);
  }
  return order;
}

}  // namespace

OpTree build_op_tree(const Trace& trace) {
  OpTree tree{host_order(trace), std::vector<EventId>(trace.size(), kNoEvent),
              std::vector<int64_t>(trace.size(), 0)};
  std::vector<EventId> open;
  for (const EventId id : tree.order) {
    tree.self_ns[id] = trace.dur_ns[id];
    const auto encloses = [&](EventId outer) {
      return trace.lane[outer] == trace.lane[id] && trace.ts_ns[id] < trace.end_ns(outer) &&
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
