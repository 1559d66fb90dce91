// SPDX-License-Identifier: Apache-2.0
// Two threads that call at the same time and share the pool, against one thread that makes all
// calls.
#include <thread>

#include "bench/suite.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {

void add_callers(Suite& suite) {
  constexpr int64_t kRows = 512;
  constexpr int64_t kDim = 768;
  constexpr int64_t kHidden = 3072;
  constexpr int kCallsEach = 4;
  nn::GluMlp mlp(kDim, kHidden);
  nn::init_normal(mlp, 1);
  const Compiled compiled = compile(mlp);
  const Tensor x = randn({kRows, kDim}, 0);
  const auto call = [=](int times) {
    for (int i = 0; i < times; ++i) benchmark::DoNotOptimize(compiled(x));
  };
  Contest contest;
  contest.text = "MLP f32 512x768x3072, 4 calls in each of two threads / 8 in one";
  contest.limit = 1.25;
  contest.gemm = gemm_work(DType::kF32, kRows, kDim, kHidden, 3 * 2 * kCallsEach);
  contest.ours.name = "two callers";
  contest.ours.body = [=] {
    std::thread other(call, kCallsEach);
    call(kCallsEach);
    other.join();
  };
  contest.rival.name = "one caller";
  contest.rival.body = [=] { call(2 * kCallsEach); };
  contest.turns = 21;
  suite.add("callers", std::move(contest));
}

}  // namespace epi::bench
