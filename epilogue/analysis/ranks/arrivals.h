// SPDX-License-Identifier: Apache-2.0
// Which rank the others wait for, and why. This needs no synchronized clocks: see compared.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/ranks/matching.h"

namespace epi::analysis {

// A rank that arrives last more often than chance explains.
struct Straggler {
  size_t rank = 0;
  int64_t last = 0;   // collectives in which it arrived last
  int64_t of = 0;     // collectives in which it took part, of those that are compared
  int64_t steps = 1;  // of the rank, that contain those
  // In the collectives in which it arrived last, together:
  double wait_ns = 0;   // how long the median of the others waited for it
  double alone_ns = 0;  // how much later it arrived than the second to last
  // What it did longer than the median of the others before all compared collectives, not only
  // those in which it was last. None if no single activity explains half of its delay.
  std::optional<Between> cause;
  double cause_ns = 0;  // how much longer, in all of them together
  // The kernel, copy or host event that took longer than on the median rank. Empty if no single one
  // explains half of `cause_ns`.
  std::string name;
};

// Why no rank is named.
enum class NoStraggler : uint8_t {
  kNamed,
  kNoCollectives,  // in which all ranks of a group wait for each other
  kRanksMissing,   // the one that arrives last may be one of them
  kUnknownGroups,  // the members of the process groups are not recorded
  kDifferent,      // the files have too few collectives in common
  kChance,         // no rank is last more often than chance explains
};

struct Arrivals {
  NoStraggler reason = NoStraggler::kNoCollectives;
  int64_t compared = 0;               // collectives
  int64_t not_compared = 0;           // of groups or with members whose files lack them
  std::vector<int64_t> last;          // per rank: how often it arrived last
  std::vector<double> wait_ns;        // per rank: how long the others waited for it then, together
  std::vector<Straggler> stragglers;  // the one that costs the most first
};
// Differences of kernels up to `noise_ns` are not a different arrival.
Arrivals arrivals(const std::vector<RankData>& ranks, const std::vector<MatchedGroup>& groups,
                  double noise_ns);

}  // namespace epi::analysis
