// SPDX-License-Identifier: Apache-2.0
// OpenBLAS, loaded when the first GEMM runs: the tool starts without it, and we can select its
// kernel type before it initializes. It is single-threaded and runs inside tasks of our thread
// pool.
#pragma once

#include <cblas.h>

#include <string>

namespace epi::cpu {

struct OpenBlas {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&cblas_dgemm) dgemm = nullptr;
  decltype(&openblas_set_num_threads) set_num_threads = nullptr;
  std::string core;  // the selected kernel type: "SkylakeX", "neoversev1" ...
};

// Throws `Error` with the name of the package to install if the library cannot be loaded.
const OpenBlas& openblas();

}  // namespace epi::cpu
