// SPDX-License-Identifier: Apache-2.0
// Links GPU work to the call that launched it, and each launch to the operator or annotation around
// it. Flow events (`ac2g`) are not used, because files contain duplicate and dangling ones.
#pragma once

#include <vector>

#include "epilogue/trace/op_tree.h"
#include "epilogue/trace/trace.h"

namespace epi::trace {

struct Links {
  OpTree tree;
  // For GPU work: the runtime or driver call with the same correlation id. One call may launch
  // several pieces of work (a CUDA graph).
  std::vector<EventId> launch;
  // For GPU work and calls: the innermost operator or annotation around the call, by time and
  // thread. Falls back to the external id if there is no call, or nothing around it.
  std::vector<EventId> op;
  // For GPU work: the start of its launch or, without one, of the operator that calls it or, with
  // neither, its own.
  std::vector<int64_t> launch_ns;
  // Number of calls that share their correlation id with an earlier one, as in a file merged from
  // several. GPU work is then linked to the nearest call before it.
  int64_t shared_correlations = 0;
};

Links link(const Trace& trace);

// For backward operators: the forward operator that a `fwdbwd` flow starts from.
std::vector<EventId> forward_ops(const Trace& trace);
// For Python frames: the calling frame, by the ids that the profiler assigned. They form a separate
// tree, because a frame may partially overlap an operator.
std::vector<EventId> python_parents(const Trace& trace);

}  // namespace epi::trace
