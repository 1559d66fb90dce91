// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/intervals.h"

#include <algorithm>

namespace epi::analysis {

Intervals merged(Intervals any) {
  const auto starts_before = [](const Interval& a, const Interval& b) { return a.begin < b.begin; };
  // Often they are in order already, because a stream runs one kernel after another.
  if (!std::is_sorted(any.begin(), any.end(), starts_before)) {
    std::sort(any.begin(), any.end(), starts_before);
  }
  Intervals set;
  for (const Interval& one : any) {
    if (one.begin >= one.end) continue;
    if (!set.empty() && one.begin <= set.back().end) {
      set.back().end = std::max(set.back().end, one.end);
    } else {
      set.push_back(one);
    }
  }
  return set;
}

Intervals difference(const Intervals& a, const Intervals& b) {
  Intervals rest;
  size_t next = 0;
  for (const Interval& one : a) {
    int64_t from = one.begin;
    while (next < b.size() && b[next].end <= from) ++next;
    for (size_t i = next; i < b.size() && b[i].begin < one.end; ++i) {
      if (b[i].begin > from) rest.push_back({from, b[i].begin});
      from = std::max(from, b[i].end);
    }
    if (from < one.end) rest.push_back({from, one.end});
  }
  return rest;
}

Intervals clipped(const Intervals& a, int64_t begin, int64_t end) {
  Intervals part;
  auto at = std::lower_bound(a.begin(), a.end(), begin,
                             [](const Interval& one, int64_t ns) { return one.end <= ns; });
  for (; at != a.end() && at->begin < end; ++at) {
    part.push_back({std::max(at->begin, begin), std::min(at->end, end)});
  }
  return part;
}

int64_t length(const Intervals& a) {
  int64_t total = 0;
  for (const Interval& one : a) total += one.end - one.begin;
  return total;
}

}  // namespace epi::analysis
