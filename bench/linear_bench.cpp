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
  contest.ours = {"linear " + label, [=] { benchmark::DoNotOptimize(linear(x, w, b)); }, {}, {}};
  contest.rival = openblas_side("sgemm " + label, [=] {
    cpu::openblas().sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, s.m, s.n, s.k, 1,
                          x.data<float>(), s.k, w.data<float>(), s.k, 0, y.data<float>(), s.n);
  });
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
}

}  // namespace epi::bench
