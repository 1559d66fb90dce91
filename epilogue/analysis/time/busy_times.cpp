// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/time/busy_times.h"

#include <algorithm>
#include <utility>

namespace epi::analysis {

BusyTimes::BusyTimes(Intervals busy) : busy_(std::move(busy)) {
  int64_t sum = 0;
  for (const Interval& one : busy_) {
    sums_.push_back(sum);
    sum += one.end - one.begin;
  }
}

int64_t BusyTimes::in(const Interval& window) const {
  return window.begin >= window.end ? 0 : before(window.end) - before(window.begin);
}

int64_t BusyTimes::before(int64_t ns) const {
  const auto after = std::partition_point(busy_.begin(), busy_.end(),
                                          [&](const Interval& one) { return one.begin < ns; });
  if (after == busy_.begin()) return 0;
  const Interval& last = *std::prev(after);
  const auto place = static_cast<size_t>(after - busy_.begin()) - 1;
  return sums_[place] + std::min(last.end, ns) - last.begin;
}

}  // namespace epi::analysis
