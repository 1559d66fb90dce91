// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/cpu/openblas.h"
#include "epilogue/cpu/strided_walk.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/tensor/allocate_one.h"

namespace epi {
namespace {

TEST(CpuBackend, SecondForwardReusesCachedMemory) {
  register_cpu_backend();
  nn::GluMlp mlp(64, 128);
  nn::init_normal(mlp, 1);
  const Tensor x = randn({8, 16, 64}, 0);
  mlp.forward(x);
  const int64_t before = allocate_one(kCpu).reserved_bytes;
  mlp.forward(x);
  EXPECT_EQ(allocate_one(kCpu).reserved_bytes, before);
}

// For a CPU that it does not recognize, OpenBLAS falls back to kernels of 2004, many times slower.
TEST(CpuBackend, OpenBlasRecognizesCpu) {
  const std::string core = cpu::openblas().core;
  EXPECT_FALSE(core.empty());
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    EXPECT_NE(core, "Prescott");
    EXPECT_NE(core, "Nehalem");
  }
#endif
}

// Shapes whose dimensions are merged, permuted and tiled.
TEST(StridedWalk, CoversEveryElementOnce) {
  const Tensor x = arange(40 * 70 * 3);
  for (const Layout& layout : {Layout{{40, 70, 3}, {210, 3, 1}}, Layout{{70, 40, 3}, {3, 210, 1}},
                               Layout{{3, 70, 40}, {1, 3, 210}}, Layout{{1, 8400}, {8400, 1}},
                               Layout{{70, 3}, {3, 1}}, Layout{{40, 1, 70}, {210, 1, 3}}}) {
    const Tensor view = x.with_layout("test", layout, 0);
    const Tensor out = full(layout.shape, -1, {DType::kI64, kCpu});
    const cpu::StridedWalk walk(
        layout.shape, {cpu::operand(out, layout.shape), cpu::operand(view, layout.shape)});
    walk.parallel([](const cpu::Run& run) {
      auto* to = reinterpret_cast<int64_t*>(run.data[0]);
      const auto* from = reinterpret_cast<const int64_t*>(run.data[1]);
      for (int64_t i = 0; i < run.count; ++i) {
        EXPECT_EQ(to[i * run.strides[0]], -1);
        to[i * run.strides[0]] = from[i * run.strides[1]];
      }
    });
    for (int64_t i = 0; i < out.numel(); ++i) {
      ASSERT_EQ(out.data<int64_t>()[i], element_offset(layout, i)) << to_string(layout.shape);
    }
  }
}

}  // namespace
}  // namespace epi
