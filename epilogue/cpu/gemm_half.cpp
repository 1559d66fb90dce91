// SPDX-License-Identifier: Apache-2.0
// bf16 and f16 GEMMs with f32 accumulation. Panels of both operands are converted to f32 in buffers
// that stay in the L2 cache, multiplied by OpenBLAS, and rounded once at the end.
#include <algorithm>

#include "epilogue/base/thread_pool.h"
#include "epilogue/cpu/cpu_matmul.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/cpu/openblas.h"
#include "epilogue/tensor/cpu_allocator.h"

namespace epi::cpu {
namespace {

// Panels of 256 x 512 f32 are 512 KiB each, the sums 256 KiB. Together they are below the 2 MiB
// (Sapphire Rapids) and near the 1 MiB (Neoverse V1) of a core's L2 cache. A converted element is
// used 256 times, so converting it again for the next block costs about 4 %.
constexpr int64_t kBlockRows = 256;
constexpr int64_t kBlockColumns = 256;
constexpr int64_t kBlockDepth = 512;
constexpr int64_t kMinColumns = 32;

class Buffer {
 public:
  explicit Buffer(int64_t count) : bytes_(count * 4), data_(cpu_allocate(bytes_)) {}
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { cpu_free(data_, bytes_); }
  float* data() const { return static_cast<float*>(data_); }

 private:
  int64_t bytes_;
  void* data_;
};

// Converts the block [row, row + rows) x [column, column + columns) of `x` to f32 in its storage
// order. Returns the converted matrix.
Matrix convert_panel(const Gemm& p, const Matrix& x, int64_t row, int64_t rows, int64_t column,
                     int64_t columns, float* to) {
  const ConvertLoop convert = converter(p.dtype, DType::kF32);
  if (x.transposed) {
    std::swap(row, column);
    std::swap(rows, columns);
  }
  const int64_t element = size_bytes(p.dtype);
  for (int64_t r = 0; r < rows; ++r) {
    convert(x.data + ((row + r) * x.ld + column) * element, 1, to + r * columns, 1, columns);
  }
  return {reinterpret_cast<const std::byte*>(to), columns, x.transposed};
}

void multiply(const Matrix& a, const Matrix& b, int64_t m, int64_t n, int64_t k, double alpha,
              float beta, float* sums) {
  const auto order = [](const Matrix& x) { return x.transposed ? CblasTrans : CblasNoTrans; };
  openblas().sgemm(CblasRowMajor, order(a), order(b), static_cast<int>(m), static_cast<int>(n),
                   static_cast<int>(k), static_cast<float>(alpha),
                   reinterpret_cast<const float*>(a.data), static_cast<int>(a.ld),
                   reinterpret_cast<const float*>(b.data), static_cast<int>(b.ld), beta, sums,
                   static_cast<int>(n));
}

struct Block {
  int64_t row, rows, column, columns;
};

void compute_block(const Gemm& p, const Block& at, float* a_panel, float* b_panel, float* sums) {
  std::fill_n(sums, at.rows * at.columns, 0.0F);
  if (p.self != nullptr) {
    write_self(p, at.row, at.rows, at.column, at.columns, sums, at.columns);
  }
  for (int64_t k = 0; k < p.k; k += kBlockDepth) {
    const int64_t depth = std::min(kBlockDepth, p.k - k);
    const Matrix a = convert_panel(p, p.a, at.row, at.rows, k, depth, a_panel);
    const Matrix b = convert_panel(p, p.b, k, depth, at.column, at.columns, b_panel);
    multiply(a, b, at.rows, at.columns, depth, p.alpha, 1, sums);
  }
  const ConvertLoop round = converter(DType::kF32, p.dtype);
  for (int64_t r = 0; r < at.rows; ++r) {
    std::byte* out = p.out + ((at.row + r) * p.ld_out + at.column) * size_bytes(p.dtype);
    round(sums + r * at.columns, 1, out, 1, at.columns);
  }
}

// Narrows the blocks if there would be too few for all threads.
int64_t choose_columns(const Gemm& p) {
  const int64_t row_blocks = (p.m + kBlockRows - 1) / kBlockRows;
  int64_t columns = kBlockColumns;
  while (columns > kMinColumns &&
         row_blocks * ((p.n + columns - 1) / columns) < 4 * num_threads()) {
    columns /= 2;
  }
  return columns;
}

}  // namespace

void gemm_half(const Gemm& p) {
  openblas();
  const int64_t columns = choose_columns(p);
  const int64_t column_blocks = (p.n + columns - 1) / columns;
  const int64_t row_blocks = (p.m + kBlockRows - 1) / kBlockRows;
  const int64_t rows = std::min(kBlockRows, p.m);
  const int64_t depth = std::min(kBlockDepth, p.k);
  parallel_for(row_blocks * column_blocks, 1, [&](int64_t begin, int64_t end) {
    const Buffer a_panel(rows * depth);
    const Buffer b_panel(depth * columns);
    const Buffer sums(rows * columns);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / column_blocks * kBlockRows;
      const int64_t column = i % column_blocks * columns;
      const Block at{row, std::min(rows, p.m - row), column, std::min(columns, p.n - column)};
      compute_block(p, at, a_panel.data(), b_panel.data(), sums.data());
    }
  });
}

}  // namespace epi::cpu
