// SPDX-License-Identifier: Apache-2.0
// The collectives that the files of all ranks of a group contain. In them, every rank waits for all
// others, so all kernels end at about the same time: the rank with the shortest kernel arrived
// last.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/analysis/ranks/matching.h"

namespace epi::analysis {

struct ComparedCollective {
  const MatchedGroup* group;
  size_t group_place;  // in the list of groups
  int64_t position;    // among the matches of the group
  std::vector<const RankCollective*> members;
  std::string kind;
  size_t last;         // the member that arrived last
  double alone_ns;     // how much later than the second to last; 0 if both arrived together
  double wait_ns;      // of the median of the other members, for the last one
  double skew_ns;      // from the first arrival to the last
  double transfer_ns;  // from the last arrival to the end
  double time_ns;      // of the median member

  const Match& match() const { return group->matches[static_cast<size_t>(position)]; }
};
// Points into both lists.
std::vector<ComparedCollective> compared_collectives(const std::vector<RankData>& ranks,
                                                     const std::vector<MatchedGroup>& groups);

double duration_ns(const RankCollective& collective);

}  // namespace epi::analysis
