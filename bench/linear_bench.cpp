// SPDX-License-Identifier: Apache-2.0
// `linear` against a bare cblas_sgemm call for the same GEMM without a bias.
#include "bench/suite.h"
#include "epilogue/cpu/openblas.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

struct Sizes {
  int m, n, k;
};

Contest linear_against_sgemm(const std::string& label, Sizes s) {
  const Tensor x = randn({s.m, s.k}, 1);
  const Tensor w = randn({s.n, s.k}, 2);
  const Tensor b = randn({s.n}, 3);
  const Tensor y = empty({s.m, s.n});
  Contest contest;
  contest.gemm = gemm_work(DType::kF32, s.m, s.k, s.n);
  contest.ours = {"linear " + label, [=] { benchmark::DoNotOptimize(linear(x, w, b)); }, {}, {}};
  contest.rival = openblas_side("sgemm " + label, [=] {
    cpu::openblas().sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, s.m, s.n, s.k, 1,
                          x.data<float>(), s.k, w.data<float>(), s.k, 0, y.data<float>(), s.n);
  });
  return contest;
}

// One row is limited by reading the weights, of which f16 has half the bytes.
Contest f16_against_f32() {
  constexpr int64_t kSize = 4096;
  const auto row = [](DType dtype) {
    const Tensor x = randn({1, kSize}, 1, {dtype});
    const Tensor w = randn({kSize, kSize}, 2, {dtype});
    return [=] { benchmark::DoNotOptimize(linear(x, w, {})); };
  };
  Contest contest;
  contest.text = "linear f16 M=1 4096x4096 / f32";
  contest.limit = 0.6;
  contest.calls = 5;
  contest.ours = {"linear f16", row(DType::kF16), {}, {}};
  contest.rival = {"linear f32", row(DType::kF32), {}, {}};
  return contest;
}

}  // namespace

void add_linear(Suite& suite) {
  Contest square = linear_against_sgemm("1024x1024x1024", {1024, 1024, 1024});
  square.text = "linear f32 1024^3 with bias / sgemm";
  square.limit = 1.03;
  square.calls = 3;
  suite.add("linear_1024", std::move(square));

  Contest row = linear_against_sgemm("1x4096x4096", {1, 4096, 4096});
  row.text = "linear f32 M=1 4096x4096, speed / sgemm";
  row.bound = Bound::kAtLeast;
  row.limit = 2;
  row.calls = 5;
  suite.add("linear_m1", std::move(row));
  suite.add("linear_m1_f16", f16_against_f32());
}

}  // namespace epi::bench
