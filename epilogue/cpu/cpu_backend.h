// SPDX-License-Identifier: Apache-2.0
// Entry point of the CPU backend. Call it once, before the first operator. Further calls do
// nothing.
#pragma once

namespace epi {

void register_cpu_backend();

// Whether loading OpenBLAS, at the first GEMM, may set OPENBLAS_CORETYPE and OPENBLAS_NUM_THREADS
// for that moment. It does so because OpenBLAS chooses slow kernels on CPUs that it does not know,
// and reserves memory for threads that are not used. On by default; switch it off before the first
// GEMM if other threads read the environment.
void set_openblas_environment(bool allowed);

}  // namespace epi
