// SPDX-License-Identifier: Apache-2.0
// OpenBLAS, loaded when the first GEMM runs: the tool starts without it, and its kernel type can
// be chosen before it initialises. It runs on one thread, inside tasks of our own pool.
#pragma once

#include <cblas.h>

#include <string>

namespace epi::cpu {

struct OpenBlas {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&cblas_dgemm) dgemm = nullptr;
  decltype(&openblas_set_num_threads) set_num_threads = nullptr;
  std::string core;  // the kernel type that it chose: "SkylakeX", "neoversev1" ...
};

// The library; throws `Error` with the package to install where it cannot be loaded.
const OpenBlas& openblas();

}  // namespace epi::cpu
