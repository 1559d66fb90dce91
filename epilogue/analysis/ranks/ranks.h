// SPDX-License-Identifier: Apache-2.0
// The traces of all ranks of a job, analyzed together.
#pragma once

#include <optional>
#include <vector>

#include "epilogue/analysis/ranks/arrivals.h"
#include "epilogue/analysis/ranks/clocks.h"
#include "epilogue/analysis/ranks/collective_kinds.h"
#include "epilogue/analysis/ranks/matching.h"
#include "epilogue/analysis/ranks/rank_data.h"

namespace epi::analysis {

struct Ranks {
  std::vector<RankData> ranks;  // by number
  int64_t world_size = 0;       // at least the number of files
  std::vector<MatchedGroup> groups;
  std::vector<std::optional<ClockOffset>> clocks;  // per rank
  double noise_ns = 0;  // the widest interval of a clock: smaller differences are not skew
  Arrivals arrivals;
  std::vector<CollectiveKind> kinds;
};

Ranks analyze_ranks(std::vector<RankData> ranks);

}  // namespace epi::analysis
