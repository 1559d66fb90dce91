// SPDX-License-Identifier: Apache-2.0
// Registers the CPU backend for all tests in this folder.
#include "epilogue/cpu/cpu_backend.h"

#include <gtest/gtest.h>

namespace {

class CpuBackend : public testing::Environment {
 public:
  void SetUp() override { epi::register_cpu_backend(); }
};
const auto* const registered = testing::AddGlobalTestEnvironment(new CpuBackend);

}  // namespace
