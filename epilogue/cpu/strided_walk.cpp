// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cpu/strided_walk.h"

#include <cstdlib>

namespace epi::cpu {
Operand operand(const Tensor& tensor, const Dims& shape) {
  return {tensor.raw_data(), broadcast_strides("walk", tensor.layout(), shape),
          size_bytes(tensor.dtype())};
}

template <int kMax>
BasicWalk<kMax>::BasicWalk(const Dims& shape, std::span<const Operand> operands)
    : count_(static_cast<int>(operands.size())) {
  std::copy(operands.begin(), operands.end(), operands_.begin());
  std::array<Dims, kMax> strides;
  for (int i = 0; i < count_; ++i) strides[i] = operands_[i].strides;
  shape_ = shape;
  merge_dims(shape_, std::span(strides).first(operands.size()));
  for (int i = 0; i < count_; ++i) operands_[i].strides = strides[i];
  put_transposed_second();
}

// If an input is dense along a different dimension than the output, moves that dimension next to
// the innermost one and walks the two in tiles.
template <int kMax>
void BasicWalk<kMax>::put_transposed_second() {
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

template <int kMax>
bool BasicWalk<kMax>::unit_stride() const {
  const int inner = shape_.rank() - 1;
  return std::all_of(operands_.begin(), operands_.begin() + count_, [&](const Operand& o) {
    return o.strides[inner] == 1 || (o.strides[inner] == 0 && &o != operands_.data());
  });
}

template <int kMax>
typename BasicWalk<kMax>::Run BasicWalk<kMax>::run_at(int64_t row, int64_t column,
                                                      int64_t count) const {
  const int inner = shape_.rank() - 1;
  Run run{};
  run.count = count;
  std::array<int64_t, kMax> offsets{};
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

template class BasicWalk<kMaxOperands>;
template class BasicWalk<kMaxFusedOperands>;

}  // namespace epi::cpu
