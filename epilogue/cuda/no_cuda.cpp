// SPDX-License-Identifier: Apache-2.0
// The backend of a build without CUDA. Every function fails.
#include "epilogue/base/error.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/cuda/gemm.h"

namespace epi {
namespace {

constexpr const char* kMissing =
    "this build has no CUDA support: nvcc 13.0 was not found, or EPI_CUDA is OFF";

}  // namespace

Result<void> register_cuda_backend() { return failure("{}", kMissing); }

namespace cuda {

Result<std::vector<DeviceInfo>> devices() { return failure("{}", kMissing); }
void synchronize(int /*device*/) { fail("cuda", "{}", kMissing); }
bool try_gemm(const Gemm&, int) { fail("cuda", "{}", kMissing); }

}  // namespace cuda
}  // namespace epi
