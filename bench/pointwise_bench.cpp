// SPDX-License-Identifier: Apache-2.0
// gelu against the loop one would write with libm, and add against the memory's own speed.
#include <cmath>
#include <cstring>

#include "bench/suite.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

constexpr int64_t kCount = 16 << 20;

void gelu_with_libm(const float* x, float* y) {
  for (int64_t i = 0; i < kCount; ++i) {
    const float inner = 0.7978845608F * (x[i] + 0.044715F * x[i] * x[i] * x[i]);
    y[i] = 0.5F * x[i] * (1 + std::tanh(inner));
  }
}

// memcpy, split over the same threads.
void copy(const float* x, float* y) {
  parallel_for(kCount, 1 << 16, [=](int64_t begin, int64_t end) {
    std::memcpy(y + begin, x + begin, static_cast<size_t>(end - begin) * sizeof(float));
  });
}

}  // namespace

void add_pointwise(Suite& suite) {
  const Tensor x = randn({kCount}, 1);
  const Tensor y = randn({kCount}, 2);
  const Tensor out = zeros({kCount});
  suite.add("gelu_tanh_16m/epilogue", [=] { benchmark::DoNotOptimize(gelu(x, "tanh")); });
  suite.add("gelu_tanh_16m/std_tanh", [=] { gelu_with_libm(x.data<float>(), out.data<float>()); });
  suite.at_least("gelu tanh over 16 M floats, speed-up over std::tanh", "gelu_tanh_16m/epilogue",
                 "gelu_tanh_16m/std_tanh", 6);
  suite.add("add_16m/epilogue", [=] { benchmark::DoNotOptimize(add(x, y)); });
  suite.add("add_16m/copy", [=] { copy(x.data<float>(), out.data<float>()); });
  // add moves three floats an element, a copy two.
  suite.at_least("add over 16 M floats, bandwidth over a copy's", "add_16m/epilogue",
                 "add_16m/copy", 0.8, 1.5);
}

}  // namespace epi::bench
