// SPDX-License-Identifier: Apache-2.0
// What advice is worth to a step: its graph timed again as if the advice were followed.
#pragma once

#include <vector>

#include "epilogue/analysis/advise/advice.h"
#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/time/diagnosis.h"

namespace epi::analysis {

// Sets what each piece of advice saves of the step, bounds what it saves of the host's time by
// that, drops synchronisations whose removal saves nothing, and orders the rest as a sequence: what
// saves most first, each timed with all before it. `owned` is what the diagnosed instance owns.
void time_again(const TraceIndex& index, const Diagnosis& diagnosis, const Owned& owned,
                std::vector<Advice>& advice);

}  // namespace epi::analysis
