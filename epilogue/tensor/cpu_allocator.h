// SPDX-License-Identifier: Apache-2.0
// A caching allocator for tensors on the CPU. A pointwise op that writes to fresh pages spends most
// of its time in page faults, so freed blocks are kept by size class and reused.
#pragma once

#include <cstdint>

namespace epi {

// At least `size_bytes` uninitialized bytes, aligned to 64. If the system is out of memory,
// releases the cache, retries once, and then throws `Error` with the sizes. Thread-safe.
void* cpu_allocate(int64_t size_bytes);
// Returns a block from `cpu_allocate(size_bytes)` to the cache.
void cpu_free(void* data, int64_t size_bytes);

// Returns every cached block to the system.
void cpu_release_cached();

}  // namespace epi
