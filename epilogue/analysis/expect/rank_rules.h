// SPDX-License-Identifier: Apache-2.0
// Checks rules about the ranks of a job: `ranks: skew < 200us`.
#pragma once

#include "epilogue/analysis/expect/expect.h"
#include "epilogue/analysis/ranks/ranks.h"

namespace epi::analysis {

// The subject of the rule must be kRanks. Instances are collectives, ranks, or the job.
RuleResult check_rank_rule(const Ranks& ranks, const Rule& rule);

}  // namespace epi::analysis
