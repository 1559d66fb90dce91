// SPDX-License-Identifier: Apache-2.0
// The eager GeGLU MLP against its three products alone, as bare cblas_sgemm calls.
#include "bench/suite.h"
#include "epilogue/cpu/openblas.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {

void add_mlp(Suite& suite) {
  constexpr int kRows = 512;
  constexpr int kDim = 768;
  constexpr int kHidden = 3072;
  nn::GluMlp mlp(kDim, kHidden);
  nn::init_normal(mlp, 1);
  const Tensor x = randn({kRows, kDim}, 0);
  suite.add("mlp_512/epilogue", [mlp, x] { benchmark::DoNotOptimize(mlp.forward(x)); });

  const Tensor gate = empty({kRows, kHidden});
  const Tensor up = empty({kRows, kHidden});
  const Tensor down = empty({kRows, kDim});
  const auto sgemm = [](const Tensor& a, const Tensor& w, const Tensor& out, int n, int k) {
    cpu::openblas().sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kRows, n, k, 1, a.data<float>(),
                          k, w.data<float>(), k, 0, out.data<float>(), n);
  };
  suite.add(
      "mlp_512/three_sgemm",
      [=] {
        sgemm(x, mlp.gate_proj.weight, gate, kHidden, kDim);
        sgemm(x, mlp.up_proj.weight, up, kHidden, kDim);
        sgemm(gate, mlp.down_proj.weight, down, kDim, kHidden);
      },
      openblas_threads(), openblas_quiet());
  suite.at_most("eager MLP f32 512x768x3072 / its three sgemm", "mlp_512/epilogue",
                "mlp_512/three_sgemm", 1.10);
}

}  // namespace epi::bench
