// SPDX-License-Identifier: Apache-2.0
// gelu against a straightforward loop with libm, and add against the memory bandwidth.
#include <cmath>
#include <cstring>

#include "bench/suite.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

constexpr int64_t kCount = 16 << 20;
// add moves three floats per element, a copy two. The copy moves the same number of bytes as the
// add. With the same number of elements, its data would be two thirds of the add's, and more of it
// would stay in the last-level cache.
constexpr int64_t kCopyCount = kCount / 2 * 3;

void gelu_with_libm(const float* x, float* y) {
  for (int64_t i = 0; i < kCount; ++i) {
    const float inner = 0.7978845608F * (x[i] + 0.044715F * x[i] * x[i] * x[i]);
    y[i] = 0.5F * x[i] * (1 + std::tanh(inner));
  }
}

// memcpy, split over the same threads.
void copy(const float* x, float* y) {
  parallel_for(kCopyCount, 1 << 16, [=](int64_t begin, int64_t end) {
    std::memcpy(y + begin, x + begin, static_cast<size_t>(end - begin) * sizeof(float));
  });
}

}  // namespace

void add_pointwise(Suite& suite) {
  const Tensor x = randn({kCopyCount}, 1);
  const Tensor a = narrow(x, 0, 0, kCount);
  const Tensor b = randn({kCount}, 2);
  const Tensor out = zeros({kCopyCount});

  Contest gelu_contest;
  gelu_contest.text = "gelu tanh over 16 M floats, speed / std::tanh";
  gelu_contest.bound = Bound::kAtLeast;
  gelu_contest.limit = 6;
  gelu_contest.ours = {
      "gelu tanh 16 M", [=] { benchmark::DoNotOptimize(gelu(a, "tanh")); }, {}, {}};
  gelu_contest.rival = {
      "loop of std::tanh", [=] { gelu_with_libm(a.data<float>(), out.data<float>()); }, {}, {}};
  suite.add("gelu", std::move(gelu_contest));

  Contest add_contest;
  add_contest.text = "add over 16 M floats, bandwidth / copy";
  add_contest.bound = Bound::kAtLeast;
  add_contest.limit = 0.8;
  add_contest.calls = 2;
  add_contest.ours = {"add 16 M", [=] { benchmark::DoNotOptimize(add(a, b)); }, {}, {}};
  add_contest.rival = {
      "copy of the same bytes", [=] { copy(x.data<float>(), out.data<float>()); }, {}, {}};
  suite.add("add", std::move(add_contest));
}

}  // namespace epi::bench
