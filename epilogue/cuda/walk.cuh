// SPDX-License-Identifier: Apache-2.0
// Maps the index of a thread to element offsets in the operands, with multiplications instead of
// divisions.
#pragma once

#include <cstdint>

#include "epilogue/cuda/divisor.h"
#include "epilogue/cuda/strided_shape.h"

namespace epi::cuda {

__device__ __forceinline__ uint32_t divide(uint32_t n, const Divisor& divisor) {
  return (__umulhi(n, divisor.multiplier) + n) >> divisor.shift;
}

// The items of one launch, fewer than 2^31. An item is one element, or a vector of elements along
// the last dimension.
template <int kMax>
struct BasicWalk {
  int rank = 1;
  uint32_t items = 0;
  uint32_t broadcast = 0;  // bit i: operand i is broadcast along the last dimension
  Divisor shape[kMaxDims];
  char* data[kMax] = {};
  int64_t strides[kMax][kMaxDims] = {};  // in elements
};
using Walk = BasicWalk<kMaxOperands>;

// Computes the offset of item `index` in each operand, in elements.
template <int kMax, int kOperands>
__device__ __forceinline__ void offsets_of(const BasicWalk<kMax>& walk, uint32_t index,
                                           int64_t (&offsets)[kOperands]) {
#pragma unroll
  for (int i = 0; i < kOperands; ++i) offsets[i] = 0;
#pragma unroll
  for (int d = kMaxDims - 1; d > 0; --d) {
    if (d >= walk.rank) continue;
    const uint32_t quotient = divide(index, walk.shape[d]);
    const uint32_t remainder = index - quotient * walk.shape[d].value;
#pragma unroll
    for (int i = 0; i < kOperands; ++i) offsets[i] += remainder * walk.strides[i][d];
    index = quotient;
  }
#pragma unroll
  for (int i = 0; i < kOperands; ++i) offsets[i] += index * walk.strides[i][0];
}

// The walk over all elements of `shape` in vectors of `vector` elements.
template <int kMax>
BasicWalk<kMax> make_walk(const BasicShape<kMax>& shape, int vector) {
  BasicWalk<kMax> walk;
  walk.rank = shape.rank;
  const int last = shape.rank - 1;
  uint32_t items = 1;
  for (int d = 0; d < shape.rank; ++d) {
    const int64_t size = d == last ? shape.shape[d] / vector : shape.shape[d];
    walk.shape[d] = Divisor(static_cast<uint32_t>(size));
    items *= static_cast<uint32_t>(size);
  }
  walk.items = items;
  for (int i = 0; i < shape.operands; ++i) {
    walk.data[i] = shape.data[i];
    if (shape.strides[i][last] == 0) walk.broadcast |= 1U << i;
    for (int d = 0; d < shape.rank; ++d) {
      walk.strides[i][d] = shape.strides[i][d] * (d == last ? vector : 1);
    }
  }
  return walk;
}

}  // namespace epi::cuda
