// SPDX-License-Identifier: Apache-2.0
// The NVIDIA GPUs of this machine. Needs no CUDA header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/base/result.h"

namespace epi::cuda {

struct DeviceInfo {
  std::string name;  // "NVIDIA H200"
  int major = 0;     // compute capability
  int minor = 0;
  int multiprocessors = 0;
  int64_t memory_bytes = 0;
  int driver = 0;  // highest CUDA version the driver supports, in CUDA's encoding: 13000
};

// One entry per device. Fails if the driver is missing or there is no device.
Result<std::vector<DeviceInfo>> devices();

// Waits for all work on `device`, from every thread and stream. Throws `Error` if any of it failed.
void synchronize(int device = 0);

}  // namespace epi::cuda
