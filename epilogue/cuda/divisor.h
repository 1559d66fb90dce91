// SPDX-License-Identifier: Apache-2.0
// Division by a divisor that is known before the kernel launch: q = (n + high(n m)) >> s for n <
// 2^31, with a fifth of the instructions of a plain division.
#pragma once

#include <cstdint>

namespace epi::cuda {

struct Divisor {
  uint32_t value = 1;
  uint32_t multiplier = 0;
  uint32_t shift = 0;

  Divisor() = default;
  // Zero is the size of an empty dimension. No division by it is ever executed.
  explicit Divisor(uint32_t divisor) : value(divisor == 0 ? 1 : divisor) {
    while ((uint64_t{1} << shift) < value) ++shift;
    const uint64_t excess = (uint64_t{1} << shift) - value;
    multiplier = static_cast<uint32_t>((excess << 32) / value + 1);
  }
};

}  // namespace epi::cuda
