// SPDX-License-Identifier: Apache-2.0
// Who called whom: the host events of each thread nested by time, as PyTorch nests them for its own
// table. An event that ends after the one it began in is not its child.
#pragma once

#include "epilogue/trace/trace.h"

namespace epi::trace {

struct OpTree {
  // Host events, each lane's together and in the order they began, parents before their children.
  std::vector<EventId> order;
  std::vector<EventId> parent;   // of every event; kNoEvent for roots and for other events
  std::vector<int64_t> self_ns;  // duration less that of the direct children; 0 for other events
};

OpTree build_op_tree(const Trace& trace);
// The same with each event on the lane given for it.
OpTree build_op_tree(const Trace& trace, const std::vector<LaneId>& lanes);

// Host events as they are in `OpTree::order`.
std::vector<EventId> host_order(const Trace& trace, const std::vector<LaneId>& lanes);

}  // namespace epi::trace
