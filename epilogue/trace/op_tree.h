// SPDX-License-Identifier: Apache-2.0
// The call tree: host events of each thread, nested by time as PyTorch nests them for its profiler
// table. An event that ends after the event it started in is not its child.
#pragma once

#include "epilogue/trace/trace.h"

namespace epi::trace {

struct OpTree {
  // Host events, grouped by lane and sorted by start, parents before their children.
  std::vector<EventId> order;
  std::vector<EventId> parent;   // per event; kNoEvent for roots and non-host events
  std::vector<int64_t> self_ns;  // duration minus direct children; 0 for non-host events
};

OpTree build_op_tree(const Trace& trace);
// The same, with the lane of each event replaced by its entry in `lanes`.
OpTree build_op_tree(const Trace& trace, const std::vector<LaneId>& lanes);

// Host events in the order of `OpTree::order`.
std::vector<EventId> host_order(const Trace& trace, const std::vector<LaneId>& lanes);

}  // namespace epi::trace
