// SPDX-License-Identifier: Apache-2.0
// A suite whose tests need a GPU: they are skipped, each by its name, where there is none.
#pragma once

#include <gtest/gtest.h>

#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/cuda/cuda_device.h"

namespace epi::cuda {

class WithDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    register_cpu_backend();
    if (const auto ready = register_cuda_backend(); !ready) {
      GTEST_SKIP() << "no CUDA device: " << ready.error().message;
    }
  }
  void TearDown() override {
    if (!IsSkipped()) synchronize();  // throws where some work failed
  }
};

}  // namespace epi::cuda
