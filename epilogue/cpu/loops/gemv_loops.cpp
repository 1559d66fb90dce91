// SPDX-License-Identifier: Apache-2.0
// GEMMs of at most four rows: the weights are read once, in order, and converted on the fly. A GEMM
// would pack them first and read them twice (`make bench`: linear M=1 against sgemm).
#include "epilogue/cpu/loops/access.h"
#include "epilogue/cpu/loops/tables.h"
#include "epilogue/cpu/loops/vector.h"

namespace epi::cpu::EPI_ISA {
namespace {

// sums[r][c] = x[r] . w[c] for kRows rows and kCols weight rows. Two sums for each hide the latency
// of an addition.
template <int kRows, int kCols, typename W>
EPI_INLINE void dot_block(const float* x, int64_t k, const W* w, int64_t ld, float* sums,
                          int64_t sums_stride) {
  constexpr int64_t kWidth = 2 * kLanes<float>;
  Vector<float> low[kRows][kCols] = {};
  Vector<float> high[kRows][kCols] = {};
  int64_t i = 0;
  for (; i + kWidth <= k; i += kWidth) {
    for (int c = 0; c < kCols; ++c) {
      const FloatPair weights = load_pair(w + c * ld + i);
      for (int r = 0; r < kRows; ++r) {
        const FloatPair numbers = load_pair(x + r * k + i);
        low[r][c] += numbers.low * weights.low;
        high[r][c] += numbers.high * weights.high;
      }
    }
  }
  // Unrolled, so that the sums stay in registers.
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < kCols; ++c) {
      float total = lane_sum<float>(low[r][c] + high[r][c]);
      for (int64_t j = i; j < k; ++j) total += x[r * k + j] * load(w[c * ld + j]);
      sums[r * sums_stride + c] = total;
    }
  }
}

template <int kRows, typename W>
void dot_rows(const float* x, int64_t k, const W* w, int64_t ld, int64_t n, float* sums,
              int64_t sums_stride) {
  // Several weight rows keep the prefetchers busy. The sums take half of the registers.
  constexpr int kFitting = kRegisters / 4 / kRows;
  constexpr int kCols = kFitting > 4 ? 4 : kFitting;
  int64_t j = 0;
  for (; j + kCols <= n; j += kCols) {
    dot_block<kRows, kCols>(x, k, w + j * ld, ld, sums + j, sums_stride);
  }
  for (; j < n; ++j) dot_block<kRows, 1>(x, k, w + j * ld, ld, sums + j, sums_stride);
}

template <typename W>
void rows(const void* x_data, int64_t rows, int64_t k, const void* data, int64_t ld, int64_t n,
          float* sums, int64_t sums_stride) {
  const float* x = static_cast<const float*>(x_data);
  const W* w = static_cast<const W*>(data);
  switch (rows) {
    case 1:
      return dot_rows<1>(x, k, w, ld, n, sums, sums_stride);
    case 2:
      return dot_rows<2>(x, k, w, ld, n, sums, sums_stride);
    case 3:
      return dot_rows<3>(x, k, w, ld, n, sums, sums_stride);
    default:
      return dot_rows<4>(x, k, w, ld, n, sums, sums_stride);
  }
}

// Adds kDepth weight rows, each scaled by its x, to the sums.
template <int kDepth, typename W>
EPI_INLINE void add_scaled(const float* x, const W* __restrict w, int64_t ld, int64_t n,
                           float* __restrict sums) {
  for (int64_t j = 0; j < n; ++j) {
    float total = sums[j];
    for (int d = 0; d < kDepth; ++d) total += x[d] * load(w[d * ld + j]);
    sums[j] = total;
  }
}

template <typename W>
void columns(const float* x, int64_t rows, int64_t k, const void* data, int64_t ld, int64_t n,
             float* sums, int64_t sums_stride) {
  const W* w = static_cast<const W*>(data);
  constexpr int kDepth = 4;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t j = 0; j < n; ++j) sums[r * sums_stride + j] = 0;
  }
  int64_t i = 0;
  for (; i + kDepth <= k; i += kDepth) {
    for (int64_t r = 0; r < rows; ++r) {
      add_scaled<kDepth>(x + r * k + i, w + i * ld, ld, n, sums + r * sums_stride);
    }
  }
  for (; i < k; ++i) {
    for (int64_t r = 0; r < rows; ++r) {
      add_scaled<1>(x + r * k + i, w + i * ld, ld, n, sums + r * sums_stride);
    }
  }
}

}  // namespace

void fill_gemv(Loops& table) {
  table.gemv[static_cast<int>(DType::kF32)] = {DType::kF32, rows<float>, columns<float>};
  table.gemv[static_cast<int>(DType::kBF16)] = {DType::kF32, rows<BFloat16>, columns<BFloat16>};
  table.gemv[static_cast<int>(DType::kF16)] = {DType::kF32, rows<Half>, columns<Half>};
}

}  // namespace epi::cpu::EPI_ISA
