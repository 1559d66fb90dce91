// SPDX-License-Identifier: Apache-2.0
// Makes the CPU kernels available to every test of this program.
#include "epilogue/cpu/backend.h"

#include <gtest/gtest.h>

namespace epi {
namespace {

class CpuBackend : public ::testing::Environment {
 public:
  void SetUp() override { register_cpu_backend(); }
};

// GoogleTest owns the environment and sets it up before the first test.
const ::testing::Environment* const kCpuBackend =
    ::testing::AddGlobalTestEnvironment(new CpuBackend);

}  // namespace
}  // namespace epi
