// SPDX-License-Identifier: Apache-2.0
// One trace of parts of others.
#pragma once

#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::trace {

// Events [first, last) of a trace.
struct TracePart {
  const Trace* trace = nullptr;
  EventId first = 0;
  EventId last = 0;
};

// The events of all parts in order, with names and lanes of their own; on all cores.
Trace join_parts(const std::vector<TracePart>& parts);

}  // namespace epi::trace
