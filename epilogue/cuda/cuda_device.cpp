// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/cuda_device.h"

#include <dlfcn.h>

#include "epilogue/base/result.h"
#include "epilogue/cuda/cuda_error.h"
#include "epilogue/cuda/device_guard.h"

namespace epi::cuda {
namespace {

bool has_driver() {
  void* library = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) ::dlclose(library);
  return library != nullptr;
}

}  // namespace

Result<std::vector<DeviceInfo>> devices() {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code == cudaErrorInsufficientDriver && !has_driver()) {
    cudaGetLastError();
    return failure("cudaGetDeviceCount: the NVIDIA driver (libcuda.so.1) is not installed");
  }
  EPI_TRY(to_result(code, "cudaGetDeviceCount"));
  int driver = 0;
  EPI_TRY(to_result(cudaDriverGetVersion(&driver), "cudaDriverGetVersion"));
  std::vector<DeviceInfo> result;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    const auto done = to_result(cudaGetDeviceProperties(&properties, i), "cudaGetDeviceProperties");
    EPI_TRY(done);
    result.push_back({properties.name, properties.major, properties.minor,
                      properties.multiProcessorCount,
                      static_cast<int64_t>(properties.totalGlobalMem), driver});
  }
  return result;
}

void synchronize(int device) {
  const DeviceGuard guard(device);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

}  // namespace epi::cuda
