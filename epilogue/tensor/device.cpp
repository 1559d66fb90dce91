// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/device.h"

namespace epi {

std::string name(Device device) {
  switch (device.type) {
    case DeviceType::kCpu:
      return "cpu";
    case DeviceType::kCuda:
      return "cuda:" + std::to_string(device.index);
    case DeviceType::kMeta:
      return "meta";
  }
  return "?";
}

}  // namespace epi
