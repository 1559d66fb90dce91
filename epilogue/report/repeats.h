// SPDX-License-Identifier: Apache-2.0
// Repetition in a sequence: A B C B C B C is A, then B C three times.
#pragma once

#include <cstdint>
#include <vector>

namespace epi::report {

struct Repeat {
  size_t start = 0;
  size_t period = 1;
  size_t times = 1;
};

// The whole sequence in order, as stretches that repeat and single elements. Of the repetitions
// that start at an element the one that saves most is taken, unless one at the next element saves
// more. At most 512 periods are tried at an element.
std::vector<Repeat> find_repeats(const std::vector<uint64_t>& sequence);

}  // namespace epi::report
