// SPDX-License-Identifier: Apache-2.0
// Sets of points in time, stored as sorted, disjoint, non-empty intervals.
#pragma once

#include <cstdint>
#include <vector>

namespace epi::analysis {

struct Interval {
  int64_t begin = 0;
  int64_t end = 0;

  bool operator==(const Interval&) const = default;
};
using Intervals = std::vector<Interval>;

// Merges arbitrary intervals into such a set. O(n log n).
Intervals merged(Intervals any);
// The part of `a` that is not in `b`. O(n).
Intervals difference(const Intervals& a, const Intervals& b);
// The part of `a` that lies in [begin, end).
Intervals clipped(const Intervals& a, int64_t begin, int64_t end);
int64_t length(const Intervals& a);

}  // namespace epi::analysis
