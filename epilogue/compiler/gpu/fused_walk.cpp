// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/gpu/fused_walk.h"

#include <cstring>

namespace epi::compiler {

FusedWalk::FusedWalk(const FusedShape& shape, int vector) {
  const int last = shape.rank - 1;
  std::array<cuda::Divisor, cuda::kMaxDims> divisors;
  uint32_t items = 1;
  for (int d = 0; d < shape.rank; ++d) {
    const int64_t size = d == last ? shape.shape[d] / vector : shape.shape[d];
    divisors[static_cast<size_t>(d)] = cuda::Divisor(static_cast<uint32_t>(size));
    items *= static_cast<uint32_t>(size);
  }
  words_[0] = static_cast<uint64_t>(items) << 32 | static_cast<uint32_t>(shape.rank);
  std::memcpy(&words_[kDivisors], divisors.data(), sizeof divisors);
  const size_t strides = kAddresses + static_cast<size_t>(shape.operands);
  for (int i = 0; i < shape.operands; ++i) {
    set_address(i, shape.data[i]);
    if (shape.strides[i][last] == 0) words_[1] |= uint64_t{1} << i;
    for (int d = 0; d < shape.rank; ++d) {
      const auto word = static_cast<size_t>(i) * cuda::kMaxDims + static_cast<size_t>(d);
      words_[strides + word] =
          static_cast<uint64_t>(shape.strides[i][d] * (d == last ? vector : 1));
    }
  }
}

}  // namespace epi::compiler
