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
  int64_t ranks = 0;             // of its group, 0 if unknown
  std::optional<int64_t> bytes;  // of the whole tensor, as NCCL counts them
};
// Without point-to-point operations, whose ranks do not wait for all others. A collective without a
// recorded group is one of all `world_size` ranks.
std::vector<CollectiveTime> collective_times(const TraceIndex& index, int64_t world_size);

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

// The collectives of one kind in one process group, on all ranks. Means per collective.
struct CollectiveKind {
  std::string kind;
  std::string group;
  int64_t count = 0;
  std::optional<double> bytes;
  double transfer_ns = 0;  // from the arrival of the last rank to the end
  double wait_ns = 0;      // of the median rank
  // Bytes per nanosecond that each link carries, by NCCL's definition, while all ranks take part.
  std::optional<double> bus_rate;
};
// The longest first. Empty unless all ranks have the same collectives.
std::vector<CollectiveKind> collective_kinds(const std::vector<std::vector<CollectiveTime>>& ranks);

}  // namespace epi::analysis
