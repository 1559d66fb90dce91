// SPDX-License-Identifier: Apache-2.0
// The rules of docs/verdicts.md: from the evidence of steps to what limits them.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "epilogue/analysis/step/diagnosis.h"

namespace epi::analysis {

// A device that computes for this share of the time is the limit.
inline constexpr double kBusyShare = 0.9;

// The time of the steps without two limiters.
using WithoutBoth = std::function<double(Limiter a, Limiter b)>;
Limiter limiter_of(const Evidence& evidence, const WithoutBoth& without_ns);
// What an idle interval of the device waits for.
Limiter limiter_of(const IdleGap& gap);
// All limiters but kNotInTrace by their savings, largest first.
std::vector<Limiter> ordered_by_saving(const StepWithout& retimed);

inline double ratio(int64_t part, int64_t whole) {
  return whole <= 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

template <typename Times>
size_t largest_place(const Times& times) {
  return static_cast<size_t>(std::max_element(times.begin(), times.end()) - times.begin());
}

}  // namespace epi::analysis
