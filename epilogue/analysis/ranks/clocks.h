// SPDX-License-Identifier: Apache-2.0
// How far the clocks of ranks differ. A collective in which every rank waits for all others ends on
// all of them at nearly the same time.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "epilogue/analysis/ranks/matching.h"

namespace epi::analysis {

// Of one rank, relative to the first rank of the largest group.
struct ClockOffset {
  double offset_ns = 0;  // in the middle of the common time
  // With a probability of at least 95 %, the offset lies in between.
  double low_ns = 0;
  double high_ns = 0;
  double drift = 0;  // nanoseconds per nanosecond; 0 unless it is significant
  int64_t collectives = 0;
};

// Per rank. None without at least six collectives in common with the first rank.
std::vector<std::optional<ClockOffset>> clock_offsets(const std::vector<RankData>& ranks,
                                                      const std::vector<MatchedGroup>& groups);

}  // namespace epi::analysis
