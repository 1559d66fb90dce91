// SPDX-License-Identifier: Apache-2.0
// The operands of a pointwise kernel as a plain struct, passed from the C++20 code to the CUDA
// sources, which do not include `Tensor`.
#pragma once

#include <cstdint>

namespace epi::cuda {

inline constexpr int kMaxDims = 8;

// Outputs come first. Dimensions are merged; the output's fastest-varying one is last. Strides are
// in elements.
template <int kMax>
struct BasicShape {
  int rank = 0;
  int operands = 0;
  int64_t shape[kMaxDims] = {};
  char* data[kMax] = {};
  int64_t strides[kMax][kMaxDims] = {};
  int element_bytes[kMax] = {};
};

// One operator has an output and at most two inputs.
inline constexpr int kMaxOperands = 3;
using StridedShape = BasicShape<kMaxOperands>;
// where: the output, the condition and two choices.
using ChoiceShape = BasicShape<4>;

// Calls launch(piece) for pieces of fewer than 2^31 elements, split along the first dimension
// longer than one.
template <int kMax, typename Launch>
void for_each_piece(const BasicShape<kMax>& shape, const Launch& launch) {
  constexpr int64_t kPiece = (int64_t{1} << 31) - 1;
  int64_t count = 1;
  for (int d = 0; d < shape.rank; ++d) count *= shape.shape[d];
  if (count <= kPiece) return launch(shape);
  int cut = 0;
  while (shape.shape[cut] == 1) ++cut;
  int64_t size = shape.shape[cut] / 2;
  if (cut == shape.rank - 1) size = size / 16 * 16;  // keeps the second piece aligned
  for (const bool second : {false, true}) {
    BasicShape<kMax> piece = shape;
    piece.shape[cut] = second ? shape.shape[cut] - size : size;
    for (int i = 0; second && i < shape.operands; ++i) {
      piece.data[i] += size * shape.strides[i][cut] * shape.element_bytes[i];
    }
    for_each_piece(piece, launch);
  }
}

// Whether the sizes and strides of all operands allow vectors of `vector` elements. Does not check
// addresses.
template <int kMax>
bool strides_allow_vectors(const BasicShape<kMax>& shape, int vector) {
  const int last = shape.rank - 1;
  if (shape.shape[last] % vector != 0) return false;
  for (int i = 0; i < shape.operands; ++i) {
    const int64_t along = shape.strides[i][last];
    if (along == 0 && i > 0) continue;
    if (along != 1) return false;
    for (int d = 0; d < last; ++d) {
      if (shape.strides[i][d] % vector != 0) return false;
    }
  }
  return true;
}

// Also checks addresses. Inputs that are broadcast along the last dimension may have any address.
template <int kMax>
bool allows_vectors(const BasicShape<kMax>& shape, int vector) {
  if (!strides_allow_vectors(shape, vector)) return false;
  for (int i = 0; i < shape.operands; ++i) {
    const auto bytes = static_cast<uintptr_t>(vector * shape.element_bytes[i]);
    const bool aligned = reinterpret_cast<uintptr_t>(shape.data[i]) % bytes == 0;
    if (!aligned && (i == 0 || shape.strides[i][shape.rank - 1] != 0)) return false;
  }
  return true;
}

}  // namespace epi::cuda
