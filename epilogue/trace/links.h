// SPDX-License-Identifier: Apache-2.0
// What belongs together: launches and the device work that they started, the operator or annotation
// that made each launch. Flows (`ac2g`) are not used: files have them doubled and dangling.
#pragma once

#include <vector>

#include "epilogue/trace/op_tree.h"
#include "epilogue/trace/trace.h"

namespace epi::trace {

struct Links {
  OpTree tree;
  // Of device work: the runtime call with its correlation. One call may start many (a graph).
  std::vector<EventId> launch;
  // Of device work and runtime calls: the innermost operator or annotation around the call. Time
  // and thread decide; the external id where there is no call, or nothing around it.
  std::vector<EventId> op;
  // Of device work: when it was asked for. The launch's begin, or its own where there is none.
  std::vector<int64_t> asked_ns;
  // Calls that share their correlation with another, as in a file that was merged from several:
  // work goes to the nearest call before it.
  int64_t shared_correlations = 0;
};

Links link(const Trace& trace);

// Of backward operators: the forward operator that a `fwdbwd` flow leads from.
std::vector<EventId> forward_ops(const Trace& trace);
// Of Python's frames: the frame that called them, by the ids that the profiler gave them. They are
// a tree of their own: they may overlap operators in part.
std::vector<EventId> python_parents(const Trace& trace);

}  // namespace epi::trace
