// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/cuda_driver.h"

#include <dlfcn.h>

#include <array>
#include <optional>
#include <utility>

namespace epi::profile {
namespace {

template <typename F>
bool find(void* library, const char* symbol, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, symbol));
  return function != nullptr;
}

// Returns nothing if the driver is not loaded or lacks a function that every CUDA 13 driver has.
std::optional<CudaDriver> find_driver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return std::nullopt;
  CudaDriver driver;
  const bool complete =
      find(library, "cuCtxGetCurrent", driver.ctx_get_current) &&
      find(library, "cuCtxPopCurrent_v2", driver.ctx_pop_current) &&
      find(library, "cuCtxPushCurrent_v2", driver.ctx_push_current) &&
      find(library, "cuCtxSynchronize", driver.ctx_synchronize) &&
      find(library, "cuDeviceGetAttribute", driver.device_get_attribute) &&
      find(library, "cuDeviceGetCount", driver.device_get_count) &&
      find(library, "cuDeviceGetName", driver.device_get_name) &&
      find(library, "cuDevicePrimaryCtxGetState", driver.device_primary_ctx_get_state) &&
      find(library, "cuDevicePrimaryCtxRelease_v2", driver.device_primary_ctx_release) &&
      find(library, "cuDevicePrimaryCtxRetain", driver.device_primary_ctx_retain) &&
      find(library, "cuDeviceTotalMem_v2", driver.device_total_mem) &&
      find(library, "cuDriverGetVersion", driver.driver_get_version);
  if (!complete) return std::nullopt;
  return driver;
}

int device_count(const CudaDriver& driver) {
  int count = 0;
  return driver.device_get_count(&count) == CUDA_SUCCESS ? count : 0;
}

using Attribute = std::pair<CUdevice_attribute, int GpuDevice::*>;
constexpr auto kAttributes = std::to_array<Attribute>({
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &GpuDevice::major},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &GpuDevice::minor},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, &GpuDevice::max_blocks_per_sm},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &GpuDevice::registers_per_block},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, &GpuDevice::registers_per_sm},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &GpuDevice::shared_per_block_bytes},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
     &GpuDevice::shared_per_block_optin_bytes},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &GpuDevice::shared_per_sm_bytes},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &GpuDevice::max_threads_per_block},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &GpuDevice::max_threads_per_sm},
    {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &GpuDevice::sms},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, &GpuDevice::shared_reserved_bytes},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, &GpuDevice::warp_size},
});

GpuDevice describe_device(const CudaDriver& driver, int id) {
  GpuDevice device{.id = id};
  std::array<char, 256> name{};
  if (driver.device_get_name(name.data(), name.size() - 1, id) == CUDA_SUCCESS) {
    device.name = name.data();
  }
  size_t bytes = 0;
  if (driver.device_total_mem(&bytes, id) == CUDA_SUCCESS) {
    device.memory_bytes = static_cast<int64_t>(bytes);
  }
  for (const auto& [attribute, member] : kAttributes) {
    int value = 0;
    if (driver.device_get_attribute(&value, attribute, id) == CUDA_SUCCESS) device.*member = value;
  }
  return device;
}

// Other threads may have launched work on the device, so its primary context is made current for
// the wait.
void synchronize_device(const CudaDriver& driver, CUdevice device, CUcontext done) {
  unsigned int flags = 0;
  int active = 0;
  if (driver.device_primary_ctx_get_state(device, &flags, &active) != CUDA_SUCCESS) return;
  if (active == 0) return;
  CUcontext context = nullptr;
  if (driver.device_primary_ctx_retain(&context, device) != CUDA_SUCCESS) return;
  if (context != done && driver.ctx_push_current(context) == CUDA_SUCCESS) {
    driver.ctx_synchronize();
    driver.ctx_pop_current(&context);
  }
  driver.device_primary_ctx_release(device);
}

}  // namespace

const CudaDriver* loaded_driver() {
  static std::optional<CudaDriver> driver;  // looked up on every call until it is found
  if (!driver) driver = find_driver();
  return driver ? &*driver : nullptr;
}

std::vector<GpuDevice> gpu_devices(const CudaDriver& driver) {
  std::vector<GpuDevice> devices;
  for (int id = 0; id < device_count(driver); ++id) {
    devices.push_back(describe_device(driver, id));
  }
  return devices;
}

int64_t driver_version(const CudaDriver& driver) {
  int version = 0;
  return driver.driver_get_version(&version) == CUDA_SUCCESS ? version : 0;
}

void synchronize_gpus(const CudaDriver& driver) {
  CUcontext current = nullptr;
  if (driver.ctx_get_current(&current) == CUDA_SUCCESS && current != nullptr) {
    driver.ctx_synchronize();
  }
  for (int id = 0; id < device_count(driver); ++id) synchronize_device(driver, id, current);
}

}  // namespace epi::profile
