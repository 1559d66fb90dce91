// SPDX-License-Identifier: Apache-2.0
// Searches sorted lists.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

namespace epi::analysis {

// The number of elements for which `is_before` is true, if they come before all others. `start` is
// a guess, such as the previous result: the cost is logarithmic in its distance from the result.
template <typename List, typename Test>
size_t count_before(const List& sorted, size_t start, Test&& is_before) {
  start = std::min(start, sorted.size());
  size_t low = 0;  // the result is at least this
  size_t high = start;
  size_t distance = 1;
  if (start < sorted.size() && is_before(sorted[start])) {
    low = start + 1;
    while (low + distance < sorted.size() && is_before(sorted[low + distance])) {
      low += distance + 1;
      distance *= 2;
    }
    high = std::min(low + distance, sorted.size());
  } else {
    while (distance <= high && !is_before(sorted[high - distance])) {
      high -= distance;
      distance *= 2;
    }
    if (distance <= high) low = high - distance + 1;
  }
  const auto found = std::partition_point(sorted.begin() + static_cast<std::ptrdiff_t>(low),
                                          sorted.begin() + static_cast<std::ptrdiff_t>(high),
                                          std::forward<Test>(is_before));
  return static_cast<size_t>(found - sorted.begin());
}

}  // namespace epi::analysis
