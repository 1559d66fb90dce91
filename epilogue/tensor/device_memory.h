// SPDX-License-Identifier: Apache-2.0
// Memory of devices other than the CPU: a backend registers how to get it, and storages and
// factories use it without knowing the backend.
#pragma once

#include <cstdint>

#include "epilogue/tensor/device.h"

namespace epi {

class DeviceMemory {
 public:
  struct Block {
    void* data = nullptr;
    void* handle = nullptr;  // the backend's own
  };

  virtual ~DeviceMemory() = default;
  // Uninitialised; ready for work that the calling thread starts next. Throws `Error` where there
  // is none.
  virtual Block allocate(Device device, int64_t size_bytes) = 0;
  // Work that was started before may still use the block.
  virtual void free(Device device, const Block& block) noexcept = 0;
  // From the CPU; `from` may be changed as soon as it returns.
  virtual void write(Device device, void* to, const void* from, int64_t size_bytes) = 0;
  virtual void zero(Device device, void* to, int64_t size_bytes) = 0;
};

// Called by the backend's own registration function, before use; `memory` lives for ever.
void register_device_memory(DeviceType type, DeviceMemory* memory);
// Throws `Error` naming the device where no backend has registered.
DeviceMemory& device_memory(Device device);

}  // namespace epi
