// SPDX-License-Identifier: Apache-2.0
// Joins parts of several traces into one.
#pragma once

#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::trace {

// Events [first, last) of a trace.
struct TracePart {
  Trace* trace = nullptr;
  EventId first = 0;
  EventId last = 0;
};

// Joins the events of all parts in order, and merges the names and lanes that they use, in the
// order of first use. Runs on all cores. A column of the parts is freed once it is joined, so that
// the memory for the events is not needed twice.
Trace join_parts(const std::vector<TracePart>& parts);

}  // namespace epi::trace
