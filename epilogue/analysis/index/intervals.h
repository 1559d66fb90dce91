// SPDX-License-Identifier: Apache-2.0
// Sets of moments as intervals: sorted, none touching another, none empty.
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

// Any intervals as such a set. O(n log n).
Intervals united(Intervals any);
// What is in `a` and not in `b`. O(n).
Intervals without(const Intervals& a, const Intervals& b);
// What is in [begin, end).
Intervals within(const Intervals& a, int64_t begin, int64_t end);
int64_t length(const Intervals& a);

}  // namespace epi::analysis
