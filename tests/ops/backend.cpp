// SPDX-License-Identifier: Apache-2.0
// Registers the backends before the first test of this program. If the tests should run on a GPU
// (test_device.h) and there is none, each test is skipped individually.
#include "epilogue/cpu/cpu_backend.h"

#include <gtest/gtest.h>

#include "epilogue/cuda/cuda_backend.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

class SkipEach : public ::testing::EmptyTestEventListener {
 public:
  explicit SkipEach(std::string reason) : reason_(std::move(reason)) {}
  void OnTestStart(const ::testing::TestInfo&) override { GTEST_SKIP() << reason_; }

 private:
  std::string reason_;
};

class Backends : public ::testing::Environment {
 public:
  void SetUp() override {
    register_cpu_backend();
    if (test_device() == kCpu) return;
    const auto ready = register_cuda_backend();
    if (ready) return;
    auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
    listeners.Append(new SkipEach("no CUDA device: " + ready.error().message));
  }
};

// GoogleTest owns the environment and sets it up before the first test.
const ::testing::Environment* const kBackends = ::testing::AddGlobalTestEnvironment(new Backends);

}  // namespace
}  // namespace epi
