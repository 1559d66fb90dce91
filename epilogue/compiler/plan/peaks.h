// SPDX-License-Identifier: Apache-2.0
// What this machine can do at most, measured on all threads: the rate of its GEMMs, and of
// reading memory.
#pragma once

#include <cstdint>

#include "epilogue/tensor/dtype.h"

namespace epi::compiler {

// Both take the best of a few tries, because others share the machine.

// FLOPs a nanosecond of GEMMs of a dtype: by multiply-add, or by tiles. A tenth of a second.
double measure_gemm_peak(DType dtype);
// Bytes a nanosecond when as many as these are read again and again: from memory, or from the cache
// that holds them, as the weights of a block are.
double measure_read_peak(int64_t bytes);

}  // namespace epi::compiler
