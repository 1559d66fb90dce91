// SPDX-License-Identifier: Apache-2.0
// The effect of advice on a step: recomputes the step's graph as if the advice were followed.
#pragma once

#include <vector>

#include "epilogue/analysis/advise/advice.h"
#include "epilogue/analysis/index/trace_index.h"
#include "epilogue/analysis/time/diagnosis.h"

namespace epi::analysis {

// Sets how much each piece of advice shortens the step, and caps host savings at that value. Drops
// synchronizations whose removal saves nothing. Orders the rest by saving and times each one
// together with all before it. `owned` is what the diagnosed instance owns.
void time_advice(const TraceIndex& index, const Diagnosis& diagnosis, const Owned& owned,
                 std::vector<Advice>& advice);

}  // namespace epi::analysis
