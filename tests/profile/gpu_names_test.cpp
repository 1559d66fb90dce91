// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/gpu_names.h"

#include <gtest/gtest.h>

namespace epi::profile {
namespace {

TEST(GpuNames, OmitVersionSuffixes) {
  EXPECT_EQ(api_name("cudaLaunchKernel_v7000"), "cudaLaunchKernel");
  EXPECT_EQ(api_name("cudaMemcpyAsync_ptsz_v7000"), "cudaMemcpyAsync");
  EXPECT_EQ(api_name("cuMemcpyHtoDAsync_v2"), "cuMemcpyHtoDAsync");
  EXPECT_EQ(api_name("cuLaunchKernelEx"), "cuLaunchKernelEx");
  EXPECT_EQ(api_name("cuda_v"), "cuda_v");
  EXPECT_EQ(api_name("cuda_volatile"), "cuda_volatile");
}

TEST(GpuNames, DemangleKernelNames) {
  EXPECT_EQ(kernel_name("_Z5scalePKffPfl"), "scale(float const*, float, float*, long)");
  EXPECT_EQ(kernel_name("epi_poi_fused_gelu_mul_0"), "epi_poi_fused_gelu_mul_0");
  EXPECT_EQ(kernel_name("i"), "i");  // not demangled to int
  EXPECT_EQ(kernel_name("_Zbroken"), "_Zbroken");
  EXPECT_EQ(kernel_name(nullptr), "unknown");
}

}  // namespace
}  // namespace epi::profile
