// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/cuda_device.h"

#include <gtest/gtest.h>

namespace epi::cuda {
namespace {

TEST(CudaDevice, ListsCapabilityOrNamesFailedCall) {
  const auto found = devices();
  if (!found) {
    EXPECT_EQ(found.error().message.find("cudaGetDeviceCount: "), 0U);
    GTEST_SKIP() << "no CUDA device: " << found.error().message;
  }
  for (const DeviceInfo& device : *found) {
    EXPECT_GE(device.major, 7);
    EXPECT_GT(device.memory_bytes, 0);
    EXPECT_GT(device.multiprocessors, 0);
  }
}

}  // namespace
}  // namespace epi::cuda
