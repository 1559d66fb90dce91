// SPDX-License-Identifier: Apache-2.0
// A bare mm through cuBLASLt, without an operator around it.
#pragma once

#include "epilogue/cuda/gemm.h"
#include "epilogue/tensor/tensor.h"

namespace epi::bench {

// out = x @ w.t() in bf16. The operands and the output are already allocated, and must outlive the
// GEMM.
cuda::Gemm bare_gemm(const Tensor& x, const Tensor& w, const Tensor& out);

}  // namespace epi::bench
