// SPDX-License-Identifier: Apache-2.0
// Events that some writers split in two: "B" marks the start, "E" the end.
#pragma once

#include "epilogue/trace/trace.h"

namespace epi::trace {

// Joins each pair into one complete event, in the place of its "B". An "E" closes the most recent
// open "B" on its lane. Unpaired events are counted as defects and are not spans.
void join_begin_end(Trace& trace);

}  // namespace epi::trace
