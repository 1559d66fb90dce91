// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/device_memory.h"

#include <array>

#include "epilogue/base/error.h"

namespace epi {
namespace {

std::array<DeviceMemory*, kDeviceTypeCount> memories{};

}  // namespace

void register_device_memory(DeviceType type, DeviceMemory* memory) {
  memories[static_cast<size_t>(type)] = memory;
}

DeviceMemory& device_memory(Device device) {
  DeviceMemory* memory = memories[static_cast<size_t>(device.type)];
  if (memory == nullptr) {
    fail("empty", "cannot allocate on {}: its backend is not registered", name(device));
  }
  return *memory;
}

}  // namespace epi
