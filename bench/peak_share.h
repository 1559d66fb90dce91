// SPDX-License-Identifier: Apache-2.0
// How close GEMMs come to what this machine can do.
#pragma once

#include <cstdint>
#include <string>

#include "epilogue/tensor/dtype.h"

namespace epi::bench {

struct GemmWork {
  DType dtype = DType::kF32;
  double flops = 0;
  int64_t weight_bytes = 0;
};

// Of `rows` rows times `count` matrices of weights of this size. i8: int8 weights with a scale for
// every 32, and f32 rows that are quantized.
GemmWork gemm_work(DType dtype, int64_t rows, int64_t inputs, int64_t outputs, int count = 1);

// The time that the nearer of two limits allows, relative to the time taken. The limits,
// multiplying and reading the weights once, are measured in this process, once for each dtype and
// size.
struct PeakShare {
  double share = 0;
  bool is_bandwidth = false;  // the limit is reading, not multiplying
};
PeakShare peak_share(const GemmWork& work, double ns);
std::string text_of(const PeakShare& share);  // "79 % compute", "101 % bandwidth"

}  // namespace epi::bench
