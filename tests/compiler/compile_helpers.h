// SPDX-License-Identifier: Apache-2.0
// What the tests of compiled functions share.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>

#include "epilogue/base/error.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/test_device.h"

namespace epi {

using Inputs = std::span<const Tensor>;
using Integers = std::span<const int64_t>;

// A test on the device of EPI_TEST_DEVICE. Skipped where there is none.
class OnTestDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    register_cpu_backend();
    if (test_device() == kCpu) return;
    if (const auto ready = register_cuda_backend(); !ready) GTEST_SKIP() << ready.error().message;
  }
};

inline nn::GluMlp small_mlp(DType dtype = DType::kF32) {
  register_cpu_backend();
  nn::GluMlp mlp(16, 32, nn::GluActivation::kGeluTanh, false, dtype);
  nn::init_normal(mlp, 1);
  return mlp;
}

// Sums in another order differ by a few roundings of numbers near one.
inline void expect_near(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const Tensor x = to(contiguous(a), DType::kF64);
  const Tensor y = to(contiguous(b), DType::kF64);
  for (int64_t i = 0; i < x.numel(); ++i) {
    ASSERT_NEAR(x.data<double>()[i], y.data<double>()[i], 1e-5) << i;
  }
}

// The message of the error that the call throws, or an empty string.
inline std::string message_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Compiles `function` with every option and compares the results with eager mode.
inline void expect_compiled_equals(const std::function<Tensor(const Tensor&)>& function,
                                   const Tensor& x) {
  register_cpu_backend();
  for (const Fuse fuse : {Fuse::kNone, Fuse::kPointwise, Fuse::kEpilogue}) {
    for (const bool dynamic : {true, false}) {
      const Compiled compiled = compile(function, {.fuse = fuse, .dynamic = dynamic});
      expect_near(compiled(x), function(x));
    }
  }
}

}  // namespace epi
