// SPDX-License-Identifier: Apache-2.0
// cuBLASLt, loaded by the first GEMM because the library is about 500 MB. The tool starts without
// it.
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

// Throws `Error` naming what to install if the library cannot be loaded.
const CublasLt& cublaslt();
// The handle of `device`, created once and usable from any thread.
cublasLtHandle_t cublaslt_handle(int device);

// Throws `Error` naming the call if `status` is not success.
void check(cublasStatus_t status, std::string_view call);

}  // namespace epi::cuda
