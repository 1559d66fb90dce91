// SPDX-License-Identifier: Apache-2.0
// Sets the calling thread's current device for a scope.
#pragma once

#include "epilogue/cuda/cuda_error.h"

namespace epi::cuda {

// Reads the current device on each construction, which costs about ten nanoseconds. This way a
// cudaSetDevice call by the caller is restored at the end of the scope.
class DeviceGuard {
 public:
  explicit DeviceGuard(int device) {
    check(cudaGetDevice(&previous_), "cudaGetDevice");
    changed_ = previous_ != device;
    if (changed_) check(cudaSetDevice(device), "cudaSetDevice");
  }
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard() {
    if (changed_) cudaSetDevice(previous_);
  }

 private:
  int previous_ = 0;
  bool changed_ = false;
};

}  // namespace epi::cuda
