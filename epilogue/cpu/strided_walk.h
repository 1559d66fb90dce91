// SPDX-License-Identifier: Apache-2.0
// Walks several operands of one shape over all cores, as runs along the fastest dimension of the
// first operand, the output. Dimensions are first merged and reordered into the longest possible
// runs. Transposed inputs are walked in tiles that stay in the cache.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "epilogue/base/thread_pool.h"
#include "epilogue/tensor/tensor.h"

namespace epi::cpu {

// A single operator has an output and two inputs. Fused code has as many operands as
// group_pointwise.cpp allows.
inline constexpr int kMaxOperands = 3;
inline constexpr int kMaxFusedOperands = 16;

// The first element and the strides, in elements, of one operand in the common shape.
struct Operand {
  std::byte* data = nullptr;
  Dims strides;
  int64_t element_bytes = 0;
};
// `tensor` broadcast to `shape`.
Operand operand(const Tensor& tensor, const Dims& shape);

template <int kMax>
class BasicWalk {
 public:
  // A pointer and a stride per operand, and the number of elements.
  struct Run {
    std::array<std::byte*, kMax> data;
    std::array<int64_t, kMax> strides;
    int64_t count;
  };

  // The first operand is the output. It determines the order of the dimensions.
  BasicWalk(const Dims& shape, std::span<const Operand> operands);
  BasicWalk(const Dims& shape, std::initializer_list<Operand> operands)
      : BasicWalk(shape, std::span(operands.begin(), operands.size())) {}

  // Whether the output has stride 1 along the runs and every input has stride 1 or 0.
  bool unit_stride() const;
  // Calls `body(run)` for runs that cover every element once, from all threads of the pool. `cost`
  // is the cost of one element relative to copying it.
  template <typename Body>
  void parallel(const Body& body, int64_t cost = 1) const;

 private:
  // Copying 32 thousand elements takes a few microseconds, about the cost of waking a thread.
  static constexpr int64_t kGrain = 32 * 1024;
  // A tile of 16 rows by 64 elements: 16 f32 share a cache line of the transposed input, and its 64
  // lines (4 KiB) stay in the L1 cache until the last of the 16 rows has used them.
  static constexpr int64_t kTileRows = 16;
  static constexpr int64_t kTileColumns = 64;

  void put_transposed_second();
  Run run_at(int64_t row, int64_t column, int64_t count) const;
  template <typename Body>
  void rows(int64_t begin, int64_t end, const Body& body) const;

  Dims shape_;
  std::array<Operand, kMax> operands_;
  int count_ = 0;
  bool tiled_ = false;
};

using StridedWalk = BasicWalk<kMaxOperands>;
using Run = StridedWalk::Run;
using FusedWalk = BasicWalk<kMaxFusedOperands>;

template <int kMax>
template <typename Body>
void BasicWalk<kMax>::parallel(const Body& body, int64_t cost) const {
  const int64_t grain = std::max<int64_t>(kGrain / cost, 1);
  const int64_t columns = shape_.back();
  const int64_t row_count = numel(shape_) / std::max<int64_t>(columns, 1);
  if (columns == 0) return;
  if (row_count >= num_threads()) {
    parallel_for(row_count, std::max<int64_t>(grain / columns, 1),
                 [&](int64_t begin, int64_t end) { rows(begin, end, body); });
    return;
  }
  for (int64_t row = 0; row < row_count; ++row) {
    parallel_for(columns, grain,
                 [&](int64_t begin, int64_t end) { body(run_at(row, begin, end - begin)); });
  }
}

template <int kMax>
template <typename Body>
void BasicWalk<kMax>::rows(int64_t begin, int64_t end, const Body& body) const {
  const int64_t columns = shape_.back();
  const int64_t block_rows = tiled_ ? kTileRows : 1;
  const int64_t block_columns = tiled_ ? kTileColumns : columns;
  for (int64_t row = begin; row < end; row += block_rows) {
    const int64_t last = std::min(row + block_rows, end);
    for (int64_t column = 0; column < columns; column += block_columns) {
      const int64_t count = std::min(block_columns, columns - column);
      for (int64_t r = row; r < last; ++r) body(run_at(r, column, count));
    }
  }
}

}  // namespace epi::cpu
