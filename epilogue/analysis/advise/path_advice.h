// SPDX-License-Identifier: Apache-2.0
// Advice about everything with one bound on the critical path.
#pragma once

#include "epilogue/analysis/advise/advisers.h"

namespace epi::analysis {

// Empty if the bound takes a small share of the path. `removed`: the share of its time that
// following the advice removes.
AdviceList advise_bound(const AdviserInput& input, AdviceKind kind, Bound bound,
                        const Estimate& removed);

}  // namespace epi::analysis
