// SPDX-License-Identifier: Apache-2.0
// A callback for every block that an allocator hands out or takes back.
#pragma once

#include <atomic>
#include <cstdint>

#include "epilogue/tensor/device.h"

namespace epi {

// One allocation or deallocation.
struct Allocation {
  Device device = kCpu;
  const void* data = nullptr;
  int64_t bytes = 0;           // size of the block, negative if it was freed
  int64_t in_use_bytes = 0;    // total on this device afterwards
  int64_t reserved_bytes = 0;  // in use plus cached
};

// Called for every subsequent allocation, in the thread that makes it. It must not allocate
// tensors. Setting it to null removes the listener, but a call that is already in progress may
// still arrive afterwards.
using AllocationListener = void (*)(const Allocation&) noexcept;

namespace detail {
inline std::atomic<AllocationListener> allocation_listener{nullptr};
}

inline void set_allocation_listener(AllocationListener listener) {
  detail::allocation_listener.store(listener, std::memory_order_release);
}

// Allocators call this while holding their lock, so that the totals arrive in order.
inline void notify_allocation(const Allocation& allocation) noexcept {
  if (auto* listener = detail::allocation_listener.load(std::memory_order_acquire)) {
    listener(allocation);
  }
}

}  // namespace epi
