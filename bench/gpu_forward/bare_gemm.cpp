// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu_forward/bare_gemm.h"

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/matrix.h"

namespace epi::bench {

cuda::Gemm bare_gemm(const Tensor& x, const Tensor& w, const Tensor& out) {
  cuda::Gemm gemm;
  gemm.dtype = DType::kBF16;
  gemm.m = x.size(0);
  gemm.n = w.size(0);
  gemm.k = x.size(1);
  gemm.a = as_matrix(x).value();
  gemm.b = as_matrix(t(w)).value();
  gemm.out = out.raw_data();
  gemm.ld_out = gemm.n;
  return gemm;
}

}  // namespace epi::bench
