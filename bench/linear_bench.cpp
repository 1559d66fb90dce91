// SPDX-License-Identifier: Apache-2.0
// `linear` against the bare cblas_sgemm that does the same product without a bias.
#include "bench/suite.h"
#include "epilogue/cpu/openblas.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

void add_size(Suite& suite, const std::string& name, int m, int n, int k) {
  const Tensor x = randn({m, k}, 1);
  const Tensor w = randn({n, k}, 2);
  const Tensor b = randn({n}, 3);
  const Tensor y = empty({m, n});
  suite.add(name + "/epilogue", [=] { benchmark::DoNotOptimize(linear(x, w, b)); });
  suite.add(
      name + "/sgemm",
      [=] {
        cpu::openblas().sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, m, n, k, 1, x.data<float>(),
                              k, w.data<float>(), k, 0, y.data<float>(), n);
      },
      openblas_threads(), openblas_quiet());
}

}  // namespace

void add_linear(Suite& suite) {
  add_size(suite, "linear_1024", 1024, 1024, 1024);
  suite.at_most("linear f32 1024x1024x1024 with bias / sgemm", "linear_1024/epilogue",
                "linear_1024/sgemm", 1.03);
  add_size(suite, "linear_m1", 1, 4096, 4096);
  suite.at_least("linear f32 M=1 4096x4096, speed-up over sgemm", "linear_m1/epilogue",
                 "linear_m1/sgemm", 2);
}

}  // namespace epi::bench
