// SPDX-License-Identifier: Apache-2.0
// Division by a number that is known before a kernel starts: q = (n + high(n m)) >> s for n < 2^31,
// which is a fifth of the instructions of a division.
#pragma once

#include <cstdint>

namespace epi::cuda {

struct Divisor {
  uint32_t value = 1;
  uint32_t multiplier = 0;
  uint32_t shift = 0;

  Divisor() = default;
  // Nothing is ever divided by zero, the size of an empty dimension.
  explicit Divisor(uint32_t divisor) : value(divisor == 0 ? 1 : divisor) {
    while ((uint64_t{1} << shift) < value) ++shift;
    const uint64_t excess = (uint64_t{1} << shift) - value;
    multiplier = static_cast<uint32_t>((excess << 32) / value + 1);
  }
};

}  // namespace epi::cuda
