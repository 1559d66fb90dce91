// SPDX-License-Identifier: Apache-2.0
// The NVIDIA GPUs of this machine. No CUDA header is needed for this one.
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
  int driver = 0;  // the newest CUDA that its driver runs, as CUDA counts: 13000
};

// One entry for each device; a failure where the driver is missing or there is none.
Result<std::vector<DeviceInfo>> devices();

// Waits until `device` has done all work that was started, by any thread, on any stream. Throws
// `Error` where some of it failed.
void synchronize(int device = 0);

}  // namespace epi::cuda
