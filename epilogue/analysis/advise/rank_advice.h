// SPDX-License-Identifier: Apache-2.0
// What applies to advice of every kind: what it saves of a step, how sure that is, what it is an
// alternative to, and the order. A saving is the difference of two re-timed graphs of the step, as
// it runs without a profiler. It never exceeds the bound.
#pragma once

#include "epilogue/analysis/advise/advisers.h"

namespace epi::analysis {

// Sets the savings of all advice, drops what saves nothing worth mentioning, and sorts the rest,
// the largest saving first. Without device work, there is nothing to re-time: keeps the order.
void rank_advice(const AdviserInput& input, bool cpu_kernels, AdviceList& list);

}  // namespace epi::analysis
