// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/scale.h"

#include <gtest/gtest.h>

#include <vector>

#include "epilogue/cuda/device.h"

namespace epi::cuda {
namespace {

TEST(CudaDevice, IsListedWithItsCapabilityOrAFailureNamesTheCall) {
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

class CudaScale : public testing::TestWithParam<int64_t> {};

TEST_P(CudaScale, MultipliesEveryElement) {
  if (const auto found = devices(); !found) {
    GTEST_SKIP() << "no CUDA device: " << found.error().message;
  }
  const int64_t count = GetParam();
  const size_t bytes = static_cast<size_t>(count) * sizeof(float);
  std::vector<float> host(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    host[static_cast<size_t>(i)] = static_cast<float>(i % 1001) - 500;
  float* x = nullptr;
  float* out = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&x), bytes + 4), cudaSuccess);
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&out), bytes + 4), cudaSuccess);
  ASSERT_EQ(cudaMemset(out, 0xFF, bytes + 4), cudaSuccess);  // NaN: what is not written shows
  ASSERT_EQ(cudaMemcpy(x, host.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(scale_f32(x, 2.5F, out, count, nullptr), cudaSuccess);
  std::vector<float> result(static_cast<size_t>(count));
  ASSERT_EQ(cudaMemcpy(result.data(), out, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  for (size_t i = 0; i < result.size(); ++i) ASSERT_EQ(result[i], 2.5F * host[i]) << i;
  cudaFree(x);
  cudaFree(out);
}

INSTANTIATE_TEST_SUITE_P(Sizes, CudaScale, testing::Values(0, 1, 255, 257, 1000003));

}  // namespace
}  // namespace epi::cuda
