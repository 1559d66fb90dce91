// SPDX-License-Identifier: Apache-2.0
// Events that some writers split in two: "B" where it begins, "E" where it ends.
#pragma once

#include "epilogue/trace/trace.h"

namespace epi::trace {

// Makes one complete event of each pair, at the place of its start; on a lane, an end belongs to
// the last begin that is open. What has no partner is counted as a defect and is no span.
void join_begin_end(Trace& trace);

}  // namespace epi::trace
