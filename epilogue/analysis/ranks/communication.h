// SPDX-License-Identifier: Apache-2.0
// What could make the communication of a job shorter, with an upper bound for each.
#pragma once

#include <string>
#include <vector>

#include "epilogue/analysis/ranks/ranks.h"

namespace epi::analysis {

enum class CommunicationRemedy : uint8_t {
  kArriveTogether,  // a straggler arrives with the second to last rank
  kOverlap,         // compute runs during communication that is exposed now
  kBucket,          // fewer, larger collectives: the fixed time of each is saved
  kBandwidth,       // all of a kind reach the bandwidth of the fastest tenth
};

struct CommunicationAdvice {
  CommunicationRemedy remedy;
  size_t rank = 0;        // kArriveTogether
  std::string kind;       // the others
  ProcessGroup group;     // the others
  double at_most_ns = 0;  // per step of the median rank
};

// Those that may save at least 1 % of a step, the most first. They may overlap, so they do not add
// up.
std::vector<CommunicationAdvice> communication_advice(const Ranks& ranks);

}  // namespace epi::analysis
