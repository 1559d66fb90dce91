// SPDX-License-Identifier: Apache-2.0
// Makes a device the calling thread's current one, for a scope.
#pragma once

#include "epilogue/cuda/cuda_error.h"

namespace epi::cuda {

// Reads the current device each time, which costs some ten nanoseconds: the caller's own
// cudaSetDevice is honoured, and comes back into force.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    changed_ = before_ != device;
    if (changed_) check(cudaSetDevice(device), "cudaSetDevice");
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (changed_) cudaSetDevice(before_);
  }

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace epi::cuda
