// SPDX-License-Identifier: Apache-2.0
#include "epilogue/analysis/index/reached_limits.h"

#include <array>

namespace epi::analysis {

std::vector<std::string> ReachedLimits::lines() const {
  static constexpr std::array<const char*, kLimits> kMeanings = {
      "more than 64 operators of a subject are nested: the others are not measured",
      "more than 64 devices: the breakdown has those with the most work",
      "more than 64 threads launch the work of a step: the critical path follows the busiest",
      "more than 256 operators are nested: those further out are not searched",
  };
  std::vector<std::string> lines;
  for (size_t i = 0; i < kLimits; ++i) {
    if (contains(static_cast<Limit>(i))) lines.emplace_back(kMeanings[i]);
  }
  return lines;
}

}  // namespace epi::analysis
