// SPDX-License-Identifier: Apache-2.0
#include "epilogue/hub/variant.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace epi::hub {
namespace {

Host cpu(const std::string& architecture, const std::vector<std::string>& features) {
  return {.os = "linux", .architecture = architecture, .features = features, .device = kCpu};
}
Host gpu(int capability, int64_t driver) {
  return {.os = "linux",
          .architecture = "x86_64",
          .features = {"avx2"},
          .device = kCuda,
          .capability = capability,
          .driver = driver};
}

std::string refusal(const char* variant, const Host& host) {
  const auto parsed = parse_variant(variant);
  EXPECT_TRUE(parsed) << variant;
  return match_variant(*parsed, host).refusal;
}

TEST(Variant, NamesHaveFourParts) {
  const auto variant = parse_variant("abi1-cpu-x86_64.avx2.fma-linux");
  ASSERT_TRUE(variant) << variant.error().message;
  EXPECT_EQ(variant->abi, 1);
  EXPECT_EQ(variant->targets, (std::vector<std::string>{"x86_64", "avx2", "fma"}));
  for (const char* name :
       {"", "abi1-cpu-x86_64", "abi-cpu-x86_64-linux", "abi0-cpu-x86_64-linux",
        "abi1-cpu-x86_64..avx2-linux", "abi1-cpu--linux", "abi1-cu-sm90-linux",
        "abi1-cu13-x86_64-linux", "abi1-cu13-sm90a.sm80-linux", "abi1-rocm7-gfx942-linux",
        "abi1-cpu-x86_64-linux-more", "abi1-cpu-x86/64-linux", "abi1-cpu-..-linux",
        "abi01-cpu-x86_64-linux", "torch212-cxx11-cu126-x86_64-linux"}) {
    EXPECT_FALSE(parse_variant(name)) << name;
  }
}

TEST(Variant, RefusalNamesMissingRequirement) {
  const Host plain = cpu("x86_64", {});
  EXPECT_EQ(refusal("abi1-cpu-x86_64-linux", plain), "");
  EXPECT_EQ(refusal("abi1-cpu-x86_64.avx2-linux", plain),
            "needs avx2, which this CPU does not support");
  EXPECT_EQ(refusal("abi1-cpu-aarch64.neon-linux", plain), "needs aarch64, this CPU is x86_64");
  EXPECT_EQ(refusal("abi2-cpu-x86_64-linux", plain), "needs ABI 2, this library has 1");
  EXPECT_EQ(refusal("abi1-cpu-x86_64-windows", plain), "needs windows, this is linux");
  EXPECT_EQ(refusal("abi1-cu13-sm90a-linux", plain), "runs on a GPU, not on the CPU");
  EXPECT_EQ(refusal("abi1-cpu-x86_64-linux", gpu(90, 13000)), "runs on the CPU, not on cuda:0");
  EXPECT_EQ(refusal("abi1-cu13-sm90a-linux", gpu(80, 13000)), "needs sm_90a, this GPU is sm_80");
  EXPECT_EQ(refusal("abi1-cu13-ptx80-linux", gpu(75, 13000)),
            "needs sm_80 or later, this GPU is sm_75");
  EXPECT_EQ(refusal("abi1-cu13-sm90a-linux", gpu(90, 12040)),
            "needs a driver for CUDA 13, this one is for 12.4");
}

// Machine code runs on its compute capability and on later minor versions of the same major
// version. With the suffix a, it runs only on exactly that capability.
TEST(Variant, MachineCodeRunsOnItsGeneration) {
  EXPECT_EQ(refusal("abi1-cu13-sm90a-linux", gpu(90, 13000)), "");
  EXPECT_EQ(refusal("abi1-cu13-sm80-linux", gpu(86, 13000)), "");
  EXPECT_NE(refusal("abi1-cu13-sm86-linux", gpu(80, 13000)), "");
  EXPECT_NE(refusal("abi1-cu13-sm80-linux", gpu(90, 13000)), "");
  EXPECT_NE(refusal("abi1-cu13-sm100a-linux", gpu(103, 13000)), "");
  EXPECT_EQ(refusal("abi1-cu13-sm100-linux", gpu(103, 13000)), "");
  EXPECT_EQ(refusal("abi1-cu13-ptx80-linux", gpu(120, 13010)), "");
  EXPECT_EQ(refusal("abi1-cu12-ptx80-linux", gpu(90, 13000)), "");
}

TEST(Variant, MostSpecificRanksHighest) {
  const auto rank = [](const char* name, const Host& host) {
    return match_variant(*parse_variant(name), host).rank;
  };
  const Host strong = cpu("x86_64", {"avx2", "avx512"});
  EXPECT_GT(rank("abi1-cpu-x86_64.avx512-linux", strong),
            rank("abi1-cpu-x86_64.avx2-linux", strong));
  EXPECT_GT(rank("abi1-cpu-x86_64.avx2-linux", strong), rank("abi1-cpu-x86_64-linux", strong));
  const Host hopper = gpu(90, 13000);
  EXPECT_GT(rank("abi1-cu13-sm90a-linux", hopper), rank("abi1-cu13-sm90-linux", hopper));
  EXPECT_GT(rank("abi1-cu13-sm90-linux", hopper), rank("abi1-cu13-ptx90-linux", hopper));
  EXPECT_GT(rank("abi1-cu13-ptx90-linux", hopper), rank("abi1-cu13-ptx80-linux", hopper));
}

TEST(Variant, DetectsThisHost) {
  const Host host = this_host(kCpu);
  EXPECT_EQ(host.os, "linux");
  EXPECT_FALSE(host.architecture.empty());
}

}  // namespace
}  // namespace epi::hub
