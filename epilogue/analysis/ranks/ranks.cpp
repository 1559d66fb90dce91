// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/ranks/ranks.h"

#include <algorithm>

namespace epi::analysis {

Ranks analyze_ranks(std::vector<RankData> ranks) {
  std::stable_sort(ranks.begin(), ranks.end(),
                   [](const RankData& a, const RankData& b) { return a.rank < b.rank; });
  Ranks result;
  result.ranks = std::move(ranks);
  result.world_size = world_size(result.ranks);
  result.groups = match_collectives(result.ranks);
  result.clocks = clock_offsets(result.ranks, result.groups);
  for (const auto& clock : result.clocks) {
    if (clock) result.noise_ns = std::max(result.noise_ns, clock->high_ns - clock->low_ns);
  }
  result.arrivals = arrivals(result.ranks, result.groups, result.noise_ns);
  result.kinds = collective_kinds(result.ranks, result.groups);
  return result;
}

}  // namespace epi::analysis
