// SPDX-License-Identifier: Apache-2.0
// A fixture for tests that need a Hopper GPU. Without one, each test is skipped.
#pragma once

#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "tests/cuda/with_device.h"

namespace epi {

class WithHopper : public cuda::WithDevice {
 protected:
  void SetUp() override {
    cuda::WithDevice::SetUp();
    if (IsSkipped()) return;
    if (!compiler::gpu_has_custom_gemms(0)) GTEST_SKIP() << "no Hopper GPU";
  }
};

}  // namespace epi
