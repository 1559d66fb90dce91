// SPDX-License-Identifier: Apache-2.0
// What a device does at most, measured now: the yardstick of `epilogue bench`.
#pragma once

#include <cstdint>

#include "epilogue/tensor/device.h"
#include "epilogue/tensor/dtype.h"

namespace epi::cli {

struct Peaks {
  double flops_per_ns = 0;
  double bytes_per_ns = 0;
};

// The CPU: multiply-adds on all threads or the library's own GEMM, whichever is faster, and
// reading as many bytes as `bytes` again and again. A
// GPU: the library's own GEMM of large matrices, and a large copy, bytes read and written.
Peaks measure_peaks(Device device, DType dtype, int64_t bytes);

}  // namespace epi::cli
