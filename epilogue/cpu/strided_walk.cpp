// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cpu/strided_walk.h"

#include <cstdlib>
#include <numeric>

namespace epi::cpu {
namespace {

// The order of dimensions with the output's strides falling; sizes of one are left out.
Dims walking_order(const Dims& shape, const Dims& out_strides) {
  Dims order;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shape[d] == 1) continue;
    int at = order.rank();
    while (at > 0 &&
           std::abs(out_strides[static_cast<int>(order[at - 1])]) < std::abs(out_strides[d])) {
      --at;
    }
    order.insert(at, d);
  }
  return order;
}

}  // namespace

Operand operand(const Tensor& tensor, const Dims& shape) {
  return {tensor.raw_data(), broadcast_strides("walk", tensor.layout(), shape),
          size_bytes(tensor.dtype())};
}

template <int kMost>
BasicWalk<kMost>::BasicWalk(const Dims& shape, std::span<const Operand> operands)
    : count_(static_cast<int>(operands.size())) {
  std::copy(operands.begin(), operands.end(), operands_.begin());
  std::array<Dims, kMost> strides;
  for (const int64_t d : walking_order(shape, operands_[0].strides)) {
    const auto dim = static_cast<int>(d);
    const int last = shape_.rank() - 1;
    bool merges = last >= 0;
    for (int i = 0; merges && i < count_; ++i) {
      merges = strides[i][last] == operands_[i].strides[dim] * shape[dim];
    }
    if (merges) {
      shape_[last] *= shape[dim];
      for (int i = 0; i < count_; ++i) strides[i][last] = operands_[i].strides[dim];
    } else {
      shape_.push_back(shape[dim]);
      for (int i = 0; i < count_; ++i) strides[i].push_back(operands_[i].strides[dim]);
    }
  }
  if (shape_.empty()) {
    shape_.push_back(1);
    for (int i = 0; i < count_; ++i) strides[i].push_back(1);
  }
  for (int i = 0; i < count_; ++i) operands_[i].strides = strides[i];
  put_transposed_second();
}

// Where an input is dense along another dimension than the output, that dimension goes next to the
// innermost one, and the two are walked in tiles.
template <int kMost>
void BasicWalk<kMost>::put_transposed_second() {
  const int inner = shape_.rank() - 1;
  for (int i = 1; i < count_ && !tiled_; ++i) {
    if (std::abs(operands_[i].strides[inner]) <= 1) continue;
    for (int d = 0; d < inner; ++d) {
      if (operands_[i].strides[d] != 1) continue;
      const auto move = [&](Dims& dims) {
        const int64_t value = dims[d];
        dims.erase(d);
        dims.insert(inner - 1, value);
      };
      move(shape_);
      for (int k = 0; k < count_; ++k) move(operands_[k].strides);
      tiled_ = true;
      break;
    }
  }
}

template <int kMost>
bool BasicWalk<kMost>::unit_stride() const {
  const int inner = shape_.rank() - 1;
  return std::all_of(operands_.begin(), operands_.begin() + count_, [&](const Operand& o) {
    return o.strides[inner] == 1 || (o.strides[inner] == 0 && &o != operands_.data());
  });
}

template <int kMost>
typename BasicWalk<kMost>::Run BasicWalk<kMost>::run_at(int64_t row, int64_t column,
                                                        int64_t count) const {
  const int inner = shape_.rank() - 1;
  Run run{};
  run.count = count;
  std::array<int64_t, kMost> offsets{};
  for (int i = 0; i < count_; ++i) offsets[i] = column * operands_[i].strides[inner];
  for (int d = inner - 1; d >= 0 && row != 0; --d) {
    const int64_t index = row % shape_[d];
    row /= shape_[d];
    for (int i = 0; i < count_; ++i) offsets[i] += index * operands_[i].strides[d];
  }
  for (int i = 0; i < count_; ++i) {
    run.data[i] = operands_[i].data + offsets[i] * operands_[i].element_bytes;
    run.strides[i] = operands_[i].strides[inner];
  }
  return run;
}

template class BasicWalk<kMostOperands>;
template class BasicWalk<kMostFusedOperands>;

}  // namespace epi::cpu
