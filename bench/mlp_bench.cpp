// SPDX-License-Identifier: Apache-2.0
// The eager GeGLU MLP against its three GEMMs alone, as bare cblas_sgemm calls.
#include "bench/suite.h"
#include "epilogue/cpu/openblas.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

constexpr int kRows = 512;
constexpr int kDim = 768;
constexpr int kHidden = 3072;

void sgemm(const Tensor& a, const Tensor& w, const Tensor& out, int n, int k) {
  cpu::openblas().sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kRows, n, k, 1, a.data<float>(), k,
                        w.data<float>(), k, 0, out.data<float>(), n);
}

}  // namespace

void add_mlp(Suite& suite) {
  nn::GluMlp mlp(kDim, kHidden);
  nn::init_normal(mlp, 1);
  const Tensor x = randn({kRows, kDim}, 0);
  const Tensor gate = empty({kRows, kHidden});
  const Tensor up = empty({kRows, kHidden});
  const Tensor down = empty({kRows, kDim});
  Contest contest;
  contest.text = "eager MLP f32 512x768x3072 / its three sgemm";
  contest.limit = 1.10;
  contest.gemm = gemm_work(DType::kF32, kRows, kDim, kHidden, 3);
  contest.ours = {"eager MLP", [=] { benchmark::DoNotOptimize(mlp.forward(x)); }, {}, {}};
  contest.rival = openblas_side("three sgemm", [=] {
    sgemm(x, mlp.gate_proj.weight, gate, kHidden, kDim);
    sgemm(x, mlp.up_proj.weight, up, kHidden, kDim);
    sgemm(gate, mlp.down_proj.weight, down, kDim, kHidden);
  });
  suite.add("mlp", std::move(contest));
}

}  // namespace epi::bench
