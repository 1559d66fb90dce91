// SPDX-License-Identifier: Apache-2.0
// Finds repetition in a sequence: A B C B C B C is A, then B C three times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace epi::analysis {

struct Repeat {
  size_t start = 0;
  size_t period = 1;
  size_t times = 1;
};

// Splits the whole sequence, in order, into repeated runs and single elements. At each element,
// takes the repetition that saves the most elements, unless one that starts at the next element
// saves more. Tries at most 512 periods per element.
std::vector<Repeat> find_repeats(const std::vector<uint64_t>& sequence);

}  // namespace epi::analysis
