// SPDX-License-Identifier: Apache-2.0
// A fixture for tests that need a GPU. Without one, each test is skipped.
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
    if (!IsSkipped()) synchronize();  // throws if GPU work failed
  }
};

}  // namespace epi::cuda
