// SPDX-License-Identifier: Apache-2.0
// Measures the peak rates of this machine on all threads: GEMM throughput and read bandwidth.
#pragma once

#include <cstdint>

#include "epilogue/tensor/dtype.h"

namespace epi::compiler {

// Both report the best of several runs, because the machine may be shared.

// Rate of the fastest instruction for GEMMs of a dtype, in operations/ns. i8: for int8 weights and
// quantized x; on a CPU with AMX, not all of these GEMMs use it. Takes a tenth of a second.
double measure_gemm_peak(DType dtype);
// Read bandwidth in bytes/ns for repeated reads of a buffer of this size, from memory or from the
// cache that holds it, like the weights of a block.
double measure_read_peak(int64_t bytes);

}  // namespace epi::compiler
