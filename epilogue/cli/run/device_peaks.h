// SPDX-License-Identifier: Apache-2.0
// Peak FLOP/s and bandwidth of a device, measured at run time: the reference of `epilogue bench`.
#pragma once

#include <cstdint>

#include "epilogue/tensor/device.h"
#include "epilogue/tensor/dtype.h"

namespace epi::cli {

struct Peaks {
  double flops_per_ns = 0;
  double bytes_per_ns = 0;
};

// On the CPU: multiply-adds on all threads or the BLAS library's GEMM, whichever is faster, and
// repeated reads of a buffer of `bytes` bytes. On a GPU: the library's GEMM of large matrices, and
// a large copy that counts bytes read and written.
Peaks measure_peaks(Device device, DType dtype, int64_t bytes);

}  // namespace epi::cli
