// SPDX-License-Identifier: Apache-2.0
// Finds host work that is not dispatch: at least `kMinHostWorkNs` of a thread without a call.
#pragma once

#include <vector>

#include "epilogue/analysis/time/host_activity.h"

namespace epi::analysis {

// Sets the activity of such segments of each lane, and adds segments for such time without events.
void mark_host_work(const TraceIndex& index,
                    std::vector<std::vector<HostTimeline::Segment>>& lanes);

}  // namespace epi::analysis
