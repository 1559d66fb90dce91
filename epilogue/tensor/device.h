// SPDX-License-Identifier: Apache-2.0
// The device that holds a tensor's bytes. `meta` tensors have shape, strides and dtype, but no
// storage.
#pragma once

#include <cstdint>
#include <string>

namespace epi {

enum class DeviceType : uint8_t { kCpu, kCuda, kMeta };
inline constexpr int kDeviceTypeCount = 3;

struct Device {
  DeviceType type = DeviceType::kCpu;
  int8_t index = 0;

  bool operator==(const Device&) const = default;
};

inline constexpr Device kCpu{DeviceType::kCpu, 0};
inline constexpr Device kMeta{DeviceType::kMeta, 0};
inline constexpr Device kCuda{DeviceType::kCuda, 0};  // the first GPU

// "cpu", "cuda:0", "meta".
std::string name(Device device);

}  // namespace epi
