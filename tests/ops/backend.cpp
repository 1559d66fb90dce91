// SPDX-License-Identifier: Apache-2.0
// Makes the kernels available to every test of this program. Tests that are to run on a GPU
// (test_device.h) are skipped, each by its name, where there is none.
#include "epilogue/cpu/backend.h"

#include <gtest/gtest.h>

#include "epilogue/cuda/backend.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

class Backends : public ::testing::Environment {
 public:
  void SetUp() override {
    register_cpu_backend();
    if (test_device() == kCpu) return;
    if (const auto ready = register_cuda_backend(); !ready) GTEST_SKIP() << ready.error().message;
  }
};

// GoogleTest owns the environment and sets it up before the first test.
const ::testing::Environment* const kBackends = ::testing::AddGlobalTestEnvironment(new Backends);

}  // namespace
}  // namespace epi
