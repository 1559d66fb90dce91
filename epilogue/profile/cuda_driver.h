// SPDX-License-Identifier: Apache-2.0
// The CUDA driver, if the process has loaded it. The profiler never loads the driver: a process
// that has not used CUDA has no GPU activity to record.
#pragma once

#include <cuda.h>

#include <vector>

#include "epilogue/profile/gpu_records.h"

namespace epi::profile {

struct CudaDriver {
  decltype(&::cuCtxGetCurrent) ctx_get_current = nullptr;
  decltype(&::cuCtxPopCurrent) ctx_pop_current = nullptr;
  decltype(&::cuCtxPushCurrent) ctx_push_current = nullptr;
  decltype(&::cuCtxSynchronize) ctx_synchronize = nullptr;
  decltype(&::cuDeviceGetAttribute) device_get_attribute = nullptr;
  decltype(&::cuDeviceGetCount) device_get_count = nullptr;
  decltype(&::cuDeviceGetName) device_get_name = nullptr;
  decltype(&::cuDevicePrimaryCtxGetState) device_primary_ctx_get_state = nullptr;
  decltype(&::cuDevicePrimaryCtxRelease) device_primary_ctx_release = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) device_primary_ctx_retain = nullptr;
  decltype(&::cuDeviceTotalMem) device_total_mem = nullptr;
  decltype(&::cuDriverGetVersion) driver_get_version = nullptr;
};

// Null if the process has not loaded the driver.
const CudaDriver* loaded_driver();

std::vector<GpuDevice> gpu_devices(const CudaDriver& driver);
int64_t driver_version(const CudaDriver& driver);

// Waits for the calling thread's context and for every device in use. Does not create contexts.
void synchronize_gpus(const CudaDriver& driver);

}  // namespace epi::profile
