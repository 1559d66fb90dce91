// SPDX-License-Identifier: Apache-2.0
// Size classes of the blocks that the caching allocators keep and reuse.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace epi {

// The size of the block that serves a request of `size_bytes`. `smallest` is a power of two, and
// every block size is a multiple of it. There are eight classes between two powers of two, so at
// most 12.5 % of a block is unused.
inline int64_t size_class_bytes(int64_t size_bytes, int64_t smallest) {
  if (size_bytes <= smallest) return smallest;
  const auto below = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(size_bytes - 1)));
  const int64_t step = std::max(smallest, below / 8);
  return (size_bytes + step - 1) / step * step;
}

}  // namespace epi
