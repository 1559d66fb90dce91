// SPDX-License-Identifier: Apache-2.0
// The times in which a device runs anything.
#pragma once

#include <vector>

#include "epilogue/analysis/index/intervals.h"

namespace epi::analysis {

class BusyTimes {
 public:
  explicit BusyTimes(Intervals busy);

  // How long the device runs something in a window. Logarithmic time.
  int64_t in(const Interval& window) const;
  const Intervals& intervals() const { return busy_; }

 private:
  // The busy time before `ns`.
  int64_t before(int64_t ns) const;

  Intervals busy_;
  std::vector<int64_t> sums_;  // before each interval
};

}  // namespace epi::analysis
