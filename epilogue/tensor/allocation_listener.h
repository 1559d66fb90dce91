// SPDX-License-Identifier: Apache-2.0
// Who is told of every block that an allocator hands out or takes back.
#pragma once

#include <atomic>
#include <cstdint>

#include "epilogue/tensor/device.h"

namespace epi {

// One block taken, or given back.
struct Allocation {
  Device device = kCpu;
  const void* data = nullptr;
  int64_t bytes = 0;           // of the block; negative where it was given back
  int64_t in_use_bytes = 0;    // of all blocks of the device, afterwards
  int64_t reserved_bytes = 0;  // in use and cached
};

// Called for every allocation from then on, in the thread that makes it; null ends that. It may not
// allocate tensors. A call that is under way may still arrive after it was taken away.
using AllocationListener = void (*)(const Allocation&) noexcept;

namespace detail {
inline std::atomic<AllocationListener> allocation_listener{nullptr};
}

inline void set_allocation_listener(AllocationListener listener) {
  detail::allocation_listener.store(listener, std::memory_order_release);
}

// Allocators call it under their lock, so that the totals are told in the order in which they were
// true.
inline void tell_allocation(const Allocation& allocation) noexcept {
  if (auto* listener = detail::allocation_listener.load(std::memory_order_acquire)) {
    listener(allocation);
  }
}

}  // namespace epi
