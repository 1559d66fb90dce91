// SPDX-License-Identifier: Apache-2.0
// Ranks with collectives that end at the same time, to check by hand.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "epilogue/analysis/ranks/rank_data.h"

namespace epi::analysis {

inline std::vector<RankData> make_ranks(int64_t count) {
  std::vector<RankData> ranks(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    RankData& rank = ranks[static_cast<size_t>(i)];
    rank.rank = i;
    rank.has_rank = true;
    rank.world_size = count;
    rank.device = "NVIDIA H200";
    rank.limiter = Limiter::kCommunication;
  }
  return ranks;
}

struct ListedCollective {
  std::string kind = "all_reduce";
  std::string group = "0";
  int64_t group_size = 0;  // 0: all ranks
  std::vector<int64_t> durations;
  std::vector<int64_t> bytes = {-1};  // per rank, or one number for all
};

// Adds it to all ranks, a millisecond after the preceding one.
inline void add_collective(std::vector<RankData>& ranks, const ListedCollective& one) {
  for (size_t i = 0; i < ranks.size(); ++i) {
    RankData& rank = ranks[i];
    const auto place = [](auto& list, auto value) {
      const auto found = std::find(list.begin(), list.end(), value);
      if (found != list.end()) return static_cast<size_t>(found - list.begin());
      list.push_back(value);
      return list.size() - 1;
    };
    RankCollective collective;
    collective.kind = place(rank.kinds, one.kind);
    // Only the name counts: tests change the rest.
    const auto named = std::find_if(rank.groups.begin(), rank.groups.end(),
                                    [&](const auto& group) { return group.name == one.group; });
    collective.group = static_cast<size_t>(named - rank.groups.begin());
    if (named == rank.groups.end()) {
      rank.groups.push_back(
          {one.group, "",
           one.group_size > 0 ? one.group_size : static_cast<int64_t>(ranks.size())});
    }
    const int64_t end = 1'000'000 * static_cast<int64_t>(rank.collectives.size() + 1);
    collective.when = {end - one.durations[i], end};
    collective.bytes = one.bytes[one.bytes.size() == 1 ? 0 : i];
    rank.collectives.push_back(collective);
    ++rank.recorded_collectives;
  }
}

}  // namespace epi::analysis
