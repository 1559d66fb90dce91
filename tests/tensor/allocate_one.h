// SPDX-License-Identifier: Apache-2.0
// What an allocator reports to its listener, which the profiler shows as memory events.
#pragma once

#include "epilogue/tensor/allocation_listener.h"
#include "epilogue/tensor/factories.h"

namespace epi {

// Allocates and frees one element, and returns the report of its allocation with the totals of the
// device.
inline Allocation allocate_one(Device device) {
  static Allocation reported;
  reported = {};
  set_allocation_listener([](const Allocation& allocation) noexcept { reported = allocation; });
  const Tensor one = empty({1}, {DType::kF32, device});
  set_allocation_listener(nullptr);
  return reported;
}

}  // namespace epi
