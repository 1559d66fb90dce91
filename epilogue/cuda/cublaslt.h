// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, loaded when the first GEMM runs: it is about 500 MB, and the tool starts without it.
#pragma once

#include <cublasLt.h>

#include <string_view>

namespace epi::cuda {

struct CublasLt {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulDescInit_internal) desc_init = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutInit_internal) layout_init = nullptr;
  decltype(&cublasLtMatrixLayoutSetAttribute) layout_set = nullptr;
  decltype(&cublasLtMatmulPreferenceInit_internal) preference_init = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtGetStatusString) status_string = nullptr;
};

// The library; throws `Error` with what to install where it cannot be loaded.
const CublasLt& cublaslt();
// One of `device`, made once; it may be used by any thread.
cublasLtHandle_t cublaslt_handle(int device);

// Throws `Error` naming the call where `status` is no success.
void check(cublasStatus_t status, std::string_view call);

}  // namespace epi::cuda
