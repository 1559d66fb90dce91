// SPDX-License-Identifier: Apache-2.0
// Memory of devices other than the CPU. A backend registers its allocator, so storages and
// factories do not depend on the backend.
#pragma once

#include <cstdint>

#include "epilogue/tensor/device.h"

namespace epi {

class DeviceMemory {
 public:
  struct Block {
    void* data = nullptr;
    void* handle = nullptr;  // private to the backend
  };

  virtual ~DeviceMemory() = default;
  // Uninitialized memory, ready for work that the calling thread enqueues next. Throws `Error` if
  // the device is out of memory.
  virtual Block allocate(Device device, int64_t size_bytes) = 0;
  // Work that was enqueued earlier may still use the block.
  virtual void free(Device device, const Block& block) noexcept = 0;
  // Copies from the CPU. `from` may be modified as soon as the call returns.
  virtual void write(Device device, void* to, const void* from, int64_t size_bytes) = 0;
  virtual void zero(Device device, void* to, int64_t size_bytes) = 0;
};

// Called once by the backend's registration function, before any use. `memory` must live until the
// process ends.
void register_device_memory(DeviceType type, DeviceMemory* memory);
// Throws `Error` if no backend is registered for the device.
DeviceMemory& device_memory(Device device);

}  // namespace epi
