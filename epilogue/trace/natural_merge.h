// SPDX-License-Identifier: Apache-2.0
// Sorts a sequence that consists of a few sorted runs, like the events of a trace. The runs are
// found and merged, so sorting a nearly sorted sequence costs little more than a copy.
#pragma once

#include <algorithm>
#include <vector>

namespace epi::trace {

// Stable. `less` is a strict weak ordering.
template <typename T, typename Less>
std::vector<T> natural_merge(std::vector<T> items, Less&& less) {
  struct Run {
    size_t at;
    size_t end;
  };
  std::vector<Run> runs;
  for (size_t begin = 0; begin < items.size();) {
    size_t end = begin + 1;
    while (end < items.size() && !less(items[end], items[end - 1])) ++end;
    runs.push_back({begin, end});
    begin = end;
  }
  if (runs.size() < 2) return items;
  // A heap of runs ordered by their first remaining item, the smallest on top. Ties go to the
  // earlier run.
  const auto comes_later = [&](const Run& a, const Run& b) {
    if (less(items[b.at], items[a.at])) return true;
    if (less(items[a.at], items[b.at])) return false;
    return a.at > b.at;
  };
  std::make_heap(runs.begin(), runs.end(), comes_later);
  std::vector<T> merged;
  merged.reserve(items.size());
  while (!runs.empty()) {
    std::pop_heap(runs.begin(), runs.end(), comes_later);
    Run& run = runs.back();
    // As long as this run stays ahead of all others, items are copied without touching the heap.
    do {
      merged.push_back(items[run.at++]);
    } while (run.at < run.end && (runs.size() == 1 || comes_later(runs.front(), run)));
    if (run.at == run.end) {
      runs.pop_back();
    } else {
      std::push_heap(runs.begin(), runs.end(), comes_later);
    }
  }
  return merged;
}

}  // namespace epi::trace
