// SPDX-License-Identifier: Apache-2.0
// f32 and f64 GEMMs with OpenBLAS. The output is split into one block per thread, and each block is
// one single-threaded call. OpenBLAS adds its accumulators to the output, so the added operand (a
// bias) is written there first, at the cost of the zero fill that it replaces.
#include <algorithm>
#include <limits>

#include "epilogue/base/error.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/cpu_matmul.h"
#include "epilogue/cpu/openblas.h"

namespace epi::cpu {
namespace {

// Below this many multiplications a second thread costs more than it saves.
constexpr int64_t kParallelWork = 128 * 128 * 64;
// Blocks start at multiples of the widest micro-kernel's rows and columns.
constexpr int64_t kAlign = 16;

struct Grid {
  int64_t rows = 1;
  int64_t columns = 1;
};

// Every row of blocks packs all of b again, and every column of blocks all of a. Picks the grid
// with the least repeated packing.
Grid choose_grid(const Gemm& p) {
  if (p.m * p.n * p.k < kParallelWork) return {};
  Grid best;
  int64_t best_cost = std::numeric_limits<int64_t>::max();
  const int64_t threads = num_threads();
  for (int64_t rows = 1; rows <= threads; ++rows) {
    const Grid grid{rows, threads / rows};
    if (rows > 1 && rows * kAlign > p.m) break;
    if (grid.columns > 1 && grid.columns * kAlign > p.n) continue;
    const int64_t idle = threads - grid.rows * grid.columns;
    const int64_t cost = grid.rows * p.n * p.k + grid.columns * p.m * p.k + idle * p.m * p.n * p.k;
    if (cost < best_cost) {
      best = grid;
      best_cost = cost;
    }
  }
  return best;
}

// The start of block `i` of `blocks` in a dimension of `size`.
int64_t block_start(int64_t size, int64_t blocks, int64_t i) {
  if (i == blocks) return size;
  return size * i / blocks / kAlign * kAlign;
}

int checked_int(int64_t value) {
  if (value > std::numeric_limits<int>::max()) {
    fail("mm", "the size or stride {} exceeds the limit of OpenBLAS (2^31 - 1)", value);
  }
  return static_cast<int>(value);
}

template <typename T>
void block(const Gemm& p, int64_t row, int64_t row_end, int64_t column, int64_t column_end) {
  const int64_t m = row_end - row;
  const int64_t n = column_end - column;
  if (m == 0 || n == 0) return;
  const T* a = reinterpret_cast<const T*>(p.a.data) + row * (p.a.transposed ? 1 : p.a.ld);
  const T* b = reinterpret_cast<const T*>(p.b.data) + column * (p.b.transposed ? p.b.ld : 1);
  T* out = reinterpret_cast<T*>(p.out) + row * p.ld_out + column;
  if (p.self != nullptr) write_self(p, row, m, column, n, out, p.ld_out);
  const auto order_a = p.a.transposed ? CblasTrans : CblasNoTrans;
  const auto order_b = p.b.transposed ? CblasTrans : CblasNoTrans;
  const T beta = p.self == nullptr ? 0 : 1;
  const auto call = [&](auto* gemm) {
    gemm(CblasRowMajor, order_a, order_b, checked_int(m), checked_int(n), checked_int(p.k),
         static_cast<T>(p.alpha), a, checked_int(p.a.ld), b, checked_int(p.b.ld), beta, out,
         checked_int(p.ld_out));
  };
  if constexpr (sizeof(T) == 4) {
    call(openblas().sgemm);
  } else {
    call(openblas().dgemm);
  }
}

template <typename T>
void blocks(const Gemm& p) {
  const Grid grid = choose_grid(p);
  parallel_for(grid.rows * grid.columns, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / grid.columns;
      const int64_t column = i % grid.columns;
      block<T>(p, block_start(p.m, grid.rows, row), block_start(p.m, grid.rows, row + 1),
               block_start(p.n, grid.columns, column), block_start(p.n, grid.columns, column + 1));
    }
  });
}

}  // namespace

void gemm_blas(const Gemm& p) {
  // Check all sizes before any block is written.
  for (const int64_t size : {p.m, p.n, p.k, p.a.ld, p.b.ld, p.ld_out}) checked_int(size);
  openblas();
  if (p.dtype == DType::kF32) {
    blocks<float>(p);
  } else {
    blocks<double>(p);
  }
}

}  // namespace epi::cpu
