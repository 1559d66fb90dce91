// SPDX-License-Identifier: Apache-2.0
// Which rank the others wait for. In a collective in which every rank waits for all others, all
// kernels end at about the same time. So the rank with the shortest kernel arrived last, and the
// others waited for the difference. This needs no synchronized clocks.
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
// Only collectives in which every rank waits for all others: not a broadcast, whose root may leave
// early, and no point-to-point operations. One without a recorded group is of all ranks.
std::vector<CollectiveTime> collective_times(const TraceIndex& index, int64_t world_size);

struct Arrivals {
  int64_t of_subgroups = 0;  // collectives of only some of the ranks, which are not compared
  // Whether all ranks have the same of the others in the same order. Files may cover different
  // times.
  bool match = false;
  int64_t collectives = 0;    // of each rank, that are compared
  std::vector<int64_t> last;  // per rank: collectives in which it arrived last
  // The rank that arrives last more often than chance explains.
  std::optional<size_t> straggler;
  // How long the median rank waited for it, in all collectives in which it arrived last.
  double waited_ns = 0;
};
Arrivals arrivals(const std::vector<std::vector<CollectiveTime>>& ranks);

// The collectives of one kind in one process group of all ranks. Means per collective.
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
