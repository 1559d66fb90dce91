// SPDX-License-Identifier: Apache-2.0
// GEMMs of at most four rows in f16, on AArch64 with fmlal: it multiplies f16 without rounding and
// adds to f32 sums. Neoverse V1 executes it four times as often as a conversion to f32.
#if defined(__aarch64__)

#include "epilogue/base/machine.h"
#include "epilogue/cpu/loops/access.h"
#include "epilogue/cpu/loops/tables.h"
#include "epilogue/cpu/loops/vector.h"

#define EPI_FMLAL __attribute__((target("arch=armv8.2-a+fp16fml")))

namespace epi::cpu::EPI_ISA {
namespace {

constexpr int64_t kWidth = 8;  // f16 elements per register

EPI_FMLAL inline float16x8_t load_halves(const Half* from) {
  uint16x8_t bits;
  __builtin_memcpy(&bits, from, sizeof bits);
  return vreinterpretq_f16_u16(bits);
}

// sums[r][c] = x[r] . w[c] for kRows rows and kCols weight rows.
template <int kRows, int kCols>
EPI_FMLAL inline void dot_block(const Half* x, int64_t k, const Half* w, int64_t ld, float* sums,
                                int64_t sums_stride) {
  float32x4_t low[kRows][kCols] = {};
  float32x4_t high[kRows][kCols] = {};
  int64_t i = 0;
  for (; i + kWidth <= k; i += kWidth) {
    for (int c = 0; c < kCols; ++c) {
      const float16x8_t weights = load_halves(w + c * ld + i);
      for (int r = 0; r < kRows; ++r) {
        const float16x8_t numbers = load_halves(x + r * k + i);
        low[r][c] = vfmlalq_low_f16(low[r][c], numbers, weights);
        high[r][c] = vfmlalq_high_f16(high[r][c], numbers, weights);
      }
    }
  }
  // Unrolled, so that the sums stay in registers.
#pragma GCC unroll 4
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < kCols; ++c) {
      float total = lane_sum<float>(low[r][c] + high[r][c]);
      for (int64_t j = i; j < k; ++j) total += load(x[r * k + j]) * load(w[c * ld + j]);
      sums[r * sums_stride + c] = total;
    }
  }
}

template <int kRows>
EPI_FMLAL void dot_rows(const Half* x, int64_t k, const Half* w, int64_t ld, int64_t n, float* sums,
                        int64_t sums_stride) {
  constexpr int kCols = kRows <= 2 ? 4 : 2;  // the sums fit into the registers
  int64_t j = 0;
  for (; j + kCols <= n; j += kCols) {
    dot_block<kRows, kCols>(x, k, w + j * ld, ld, sums + j, sums_stride);
  }
  for (; j < n; ++j) dot_block<kRows, 1>(x, k, w + j * ld, ld, sums + j, sums_stride);
}

void rows(const void* x_data, int64_t rows, int64_t k, const void* w_data, int64_t ld, int64_t n,
          float* sums, int64_t sums_stride) {
  const Half* x = static_cast<const Half*>(x_data);
  const Half* w = static_cast<const Half*>(w_data);
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

}  // namespace

void fill_gemv_fmlal(Loops& table) {
  if (!has_fmlal()) return;
  GemvLoops& loops = table.gemv[static_cast<int>(DType::kF16)];
  loops.x_dtype = DType::kF16;
  loops.rows = rows;
}

}  // namespace epi::cpu::EPI_ISA

#endif
