// SPDX-License-Identifier: Apache-2.0
// The argument of a fused GPU kernel, with the same layout as the `Walk` of
// codegen/device/walk.cuh: rank and items, a mask of broadcast operands, divisors, addresses,
// strides.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "epilogue/cuda/divisor.h"
#include "epilogue/cuda/strided_shape.h"

namespace epi::compiler {

inline constexpr int kMaxGpuOperands = 16;
using FusedShape = cuda::BasicShape<kMaxGpuOperands>;

class FusedWalk {
 public:
  // Covers fewer than 2^31 elements, in vectors of `vector`. The addresses come from `shape`.
  FusedWalk(const FusedShape& shape, int vector);

  uint32_t items() const { return static_cast<uint32_t>(words_[0] >> 32); }
  void set_address(int operand, const void* data) {
    words_[kAddresses + static_cast<size_t>(operand)] = reinterpret_cast<uintptr_t>(data);
  }
  void* argument() { return words_.data(); }

 private:
  static constexpr size_t kDivisors = 2;
  static constexpr size_t kAddresses = kDivisors + cuda::kMaxDims * sizeof(cuda::Divisor) / 8;

  static constexpr size_t kOperandWords = 1 + cuda::kMaxDims;  // an address and strides
  static constexpr size_t kWords = kAddresses + kMaxGpuOperands * kOperandWords;

  std::array<uint64_t, kWords> words_{};
};

}  // namespace epi::compiler
