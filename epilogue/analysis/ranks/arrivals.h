// SPDX-License-Identifier: Apache-2.0
// Which rank the others wait for. A collective ends on all ranks at about the same time, so the
// rank with the shortest kernel arrived last, and the others waited for as much longer as their
// kernels took. This needs no synchronized clocks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/ranks/collectives.h"

namespace epi::analysis {

// What ranks are compared by.
struct CollectiveTime {
  std::string kind;
  std::string group;
  int64_t dur_ns = 0;
};
// Without point-to-point operations, whose ranks do not wait for all others.
std::vector<CollectiveTime> collective_times(const TraceIndex& index);

struct Arrivals {
  // Whether all ranks have the same collectives in the same order. Files may cover different times.
  bool match = false;
  int64_t collectives = 0;    // of each rank
  std::vector<int64_t> last;  // per rank: collectives in which it arrived last
  // The rank that arrives last more often than chance explains.
  std::optional<size_t> straggler;
  // How long the median rank waited for it, in all collectives in which it arrived last.
  double waited_ns = 0;
};
Arrivals arrivals(const std::vector<std::vector<CollectiveTime>>& ranks);

}  // namespace epi::analysis
