// SPDX-License-Identifier: Apache-2.0
// GEMMs of at most kGemvRows rows. They are memory-bound: the cost is reading the weights once.
#include <algorithm>
#include <array>
#include <vector>

#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/cpu_matmul.h"
#include "epilogue/cpu/loops/loops.h"

namespace epi::cpu {
namespace {

// Columns per panel: the sums of four rows (16 KiB) stay in the L1 cache.
constexpr int64_t kPanel = 1024;
// Waking a thread pays off for this many weights (64 KiB of bf16).
constexpr int64_t kGrainWeights = 32 * 1024;

// The rows of `a`, converted, one after the other.
std::vector<std::byte> pack_rows(const Gemm& p, DType dtype) {
  const int64_t row_bytes = p.k * size_bytes(dtype);
  std::vector<std::byte> rows(static_cast<size_t>(p.m * row_bytes));
  const ConvertLoop convert = converter(p.dtype, dtype);
  for (int64_t r = 0; r < p.m; ++r) {
    const int64_t at = p.a.transposed ? r : r * p.a.ld;
    convert(p.a.data + at * size_bytes(p.dtype), p.a.transposed ? p.a.ld : 1,
            rows.data() + r * row_bytes, 1, p.k);
  }
  return rows;
}

// Computes columns [column, column + columns) of every row.
void panel(const Gemm& p, const std::byte* rows, int64_t column, int64_t columns) {
  std::array<float, kGemvRows * kPanel> sums;
  std::array<float, kPanel> added;
  const GemvLoops& loop = loops().gemv[static_cast<int>(p.dtype)];
  const int64_t element = size_bytes(p.dtype);
  const std::byte* weights = p.b.data + column * (p.b.transposed ? p.b.ld : 1) * element;
  if (p.b.transposed) {
    loop.rows(rows, p.m, p.k, weights, p.b.ld, columns, sums.data(), kPanel);
  } else {
    loop.columns(reinterpret_cast<const float*>(rows), p.m, p.k, weights, p.b.ld, columns,
                 sums.data(), kPanel);
  }
  const ConvertLoop round = converter(DType::kF32, p.dtype);
  for (int64_t r = 0; r < p.m; ++r) {
    float* line = sums.data() + r * kPanel;
    for (int64_t c = 0; c < columns; ++c) line[c] *= static_cast<float>(p.alpha);
    if (p.self != nullptr) {
      write_self(p, r, 1, column, columns, added.data(), kPanel);
      for (int64_t c = 0; c < columns; ++c) line[c] += added[static_cast<size_t>(c)];
    }
    round(line, 1, p.out + (r * p.ld_out + column) * element, 1, columns);
  }
}

}  // namespace

void gemv(const Gemm& p) {
  const GemvLoops& loop = loops().gemv[static_cast<int>(p.dtype)];
  const std::vector<std::byte> rows = pack_rows(p, p.b.transposed ? loop.x_dtype : DType::kF32);
  const int64_t grain = std::max<int64_t>(16, kGrainWeights / std::max<int64_t>(p.k, 1));
  parallel_for(p.n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t column = begin; column < end; column += kPanel) {
      panel(p, rows.data(), column, std::min(kPanel, end - column));
    }
  });
}

}  // namespace epi::cpu
