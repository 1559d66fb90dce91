// SPDX-License-Identifier: Apache-2.0
// Why a rank arrives late: what it did longer than the others since the preceding collective.
#pragma once

#include <vector>

#include "epilogue/analysis/ranks/arrivals.h"
#include "epilogue/analysis/ranks/compared.h"

namespace epi::analysis {

// For each collective of each rank, the number of its match; -1 if it has none.
using MatchNumbers = std::vector<std::vector<int64_t>>;
MatchNumbers match_numbers(const std::vector<RankData>& ranks,
                           const std::vector<MatchedGroup>& groups);

// Sets the cause of a straggler, if a single activity explains half of its delay, and its name.
void find_cause(const std::vector<RankData>& ranks, const std::vector<ComparedCollective>& compared,
                const MatchNumbers& numbers, Straggler& straggler);

}  // namespace epi::analysis
