// SPDX-License-Identifier: Apache-2.0
// Which collectives in the traces of several ranks are the same one. The n-th of a process group is
// the same on every rank only if the files are complete. Files may begin and end at different times
// and lack events, so sequences are aligned with gaps: by kind, size, step and the time of their
// end, which is nearly the same on all ranks, apart from the offset of their clocks.
#pragma once

#include <cstdint>
#include <vector>

#include "epilogue/analysis/ranks/rank_data.h"

namespace epi::analysis {

// One collective, as the members of its group ran it.
struct Match {
  // Per member, its place in RankData::collectives; -1 if the file does not contain it.
  std::vector<int32_t> at;

  bool is_complete() const;
};

struct MatchedGroup {
  ProcessGroup group;
  std::vector<size_t> members;  // places in the list of ranks, in its order
  std::vector<size_t> places;   // of the group in RankData::groups, per member
  // Whether the files of all ranks of the group are there.
  bool is_complete = false;
  // Several groups may have this name: the files do not list their members.
  bool is_ambiguous = false;
  // False if it is ambiguous, or if two members have too little in common.
  bool is_matched = false;
  // Collectives in which every rank waits for all others: of the file with the most of them, and in
  // its order.
  int64_t collectives = 0;
  std::vector<Match> matches;
};

// The groups with the most members first.
std::vector<MatchedGroup> match_collectives(const std::vector<RankData>& ranks);

// The number of ranks of the job, as far as the files tell.
int64_t world_size(const std::vector<RankData>& ranks);

}  // namespace epi::analysis
