// SPDX-License-Identifier: Apache-2.0
// A caching allocator for tensors on the CPU. A pointwise op into fresh pages spends most of its
// time in page faults; blocks are therefore kept by size class and handed out again.
#pragma once

#include <cstdint>

namespace epi {

// At least `size_bytes` bytes aligned to 64, uninitialised. Throws `Error` with the sizes where the
// system has no memory left, after it gave the cache back and tried once more. Any thread.
void* cpu_allocate(int64_t size_bytes);
// Takes a block of `cpu_allocate(size_bytes)` back into the cache.
void cpu_free(void* data, int64_t size_bytes);

struct CpuAllocatorStats {
  int64_t in_use_bytes = 0;
  int64_t cached_bytes = 0;
  int64_t fresh_allocations = 0;  // that went to the system
};
CpuAllocatorStats cpu_allocator_stats();

// Gives every cached block back to the system.
void cpu_release_cached();

}  // namespace epi
