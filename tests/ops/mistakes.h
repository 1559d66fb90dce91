// SPDX-License-Identifier: Apache-2.0
// Tables of invalid calls that must throw, and zero-filled tensors to make them with.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string_view>
#include <vector>

#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"

namespace epi {

struct Mistake {
  const char* op;
  std::vector<std::string_view> parts;  // that the message must contain
  std::function<void()> call;
};

inline void expect_all_fail(const std::vector<Mistake>& mistakes) {
  for (size_t i = 0; i < mistakes.size(); ++i) {
    EXPECT_TRUE(fails(mistakes[i].op, mistakes[i].parts, mistakes[i].call)) << "mistake " << i;
  }
}

inline Tensor f32(const Dims& shape) { return zeros(shape); }
inline Tensor f64(const Dims& shape) { return zeros(shape, {DType::kF64, kCpu}); }
inline Tensor i64(const Dims& shape) { return zeros(shape, {DType::kI64, kCpu}); }
inline Tensor flags(const Dims& shape) { return zeros(shape, {DType::kBool, kCpu}); }
inline Tensor meta(const Dims& shape) { return zeros(shape, {DType::kF32, kMeta}); }

}  // namespace epi
