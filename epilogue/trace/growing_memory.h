// SPDX-License-Identifier: Apache-2.0
// Memory that grows without moving: address space is reserved for all that it may hold.
#pragma once

#include <cstddef>

namespace epi::trace {

class GrowingMemory {
 public:
  // Thrown if there is no memory for this many bytes.
  struct NoMemory {
    size_t bytes;
  };

  // Has room for `bytes` now, and can grow to `max_bytes`. If the address space of the process is
  // limited, it can grow to a quarter of the limit.
  GrowingMemory(size_t bytes, size_t max_bytes);
  GrowingMemory(const GrowingMemory&) = delete;
  GrowingMemory& operator=(const GrowingMemory&) = delete;
  ~GrowingMemory();

  // Doubles the room, up to the maximum. Throws NoMemory if it is reached or does not fit.
  void grow();
  // Gives back the address space that is not used.
  void stop_growing();
  char* data() const { return data_; }
  size_t room() const { return room_; }

 private:
  char* data_ = nullptr;
  size_t room_ = 0;
  size_t reserved_ = 0;
};

}  // namespace epi::trace
