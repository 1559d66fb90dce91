// SPDX-License-Identifier: Apache-2.0
// Limits how many annotations are measured at a time. Each annotation owns the work inside it, so
// the work is counted once per annotation around it, and the cost of an analysis is the number of
// events times this depth.
#pragma once

#include <cstddef>
#include <vector>

#include "epilogue/trace/trace.h"

namespace epi::trace {

// More annotations do not overlap in traces of real programs.
inline constexpr size_t kMaxOverlap = 64;

// Drops each event that starts while `kMaxOverlap` of the kept ones are open. Keeps the order.
std::vector<EventId> limit_overlap(const Trace& trace, std::vector<EventId> events);

// Counts kDeepOverlap if annotations of the trace overlap more deeply.
void count_deep_overlap(Trace& trace);

}  // namespace epi::trace
