// SPDX-License-Identifier: Apache-2.0
// The kernel of shared_reads.
#pragma once

#include <cstdint>

namespace epi::bench {

// Tiles of x, as the tile form copies them.
inline constexpr int kSharedRows = 128;
inline constexpr int kSharedColumns = 64;

// Starts `blocks` blocks, of which block b reads the rows of group b % groups, on the default
// stream. `map` is a tensor map of 128 bytes for boxes of the sizes above. Exits on an error.
void start_shared_reads(const uint64_t* map, int columns, int blocks, int groups);

}  // namespace epi::bench
