// SPDX-License-Identifier: Apache-2.0
// Count, size, time and bandwidth of the collectives of each kind.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/analysis/ranks/compared.h"

namespace epi::analysis {

// The collectives of one kind in one process group. Means per collective.
struct CollectiveKind {
  std::string kind;
  ProcessGroup group;
  int64_t count = 0;
  std::optional<double> bytes;
  double time_ns = 0;  // of the median rank
  // None unless the collective is synchronizing and found on all ranks.
  std::optional<double> wait_ns;      // of the median of the other ranks, for the last one
  std::optional<double> transfer_ns;  // from the arrival of the last rank to the end
  std::optional<double> skew_ns;      // from the first arrival to the last
  // Bytes per nanosecond during the transfer: of the tensor, and of each link by NCCL's definition.
  std::optional<double> algorithm_rate;
  std::optional<double> bus_rate;
};
// The longest first.
std::vector<CollectiveKind> collective_kinds(const std::vector<RankData>& ranks,
                                             const std::vector<MatchedGroup>& groups);

}  // namespace epi::analysis
