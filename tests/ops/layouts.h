// SPDX-License-Identifier: Apache-2.0
// Random tensors in every layout that an operator may be given. Storage between the elements is
// poisoned (NaN, or a large integer), so that a kernel that ignores strides gives itself away.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "epilogue/tensor/tensor.h"

namespace epi {

enum class LayoutKind {
  kContiguous,
  kTransposed,      // the last two dimensions swapped in memory
  kSliced,          // a window of a larger tensor: an offset, and gaps between rows
  kStepped,         // innermost stride 2
  kReversed,        // innermost stride -1
  kBroadcastOuter,  // stride 0 in the first dimension
  kBroadcastInner,  // stride 0 in the last dimension
};

inline constexpr LayoutKind kAllLayouts[] = {
    LayoutKind::kContiguous,    LayoutKind::kTransposed, LayoutKind::kSliced,
    LayoutKind::kStepped,       LayoutKind::kReversed,   LayoutKind::kBroadcastOuter,
    LayoutKind::kBroadcastInner};
// Those that can be written to: each element has a place of its own.
inline constexpr LayoutKind kDenseLayouts[] = {LayoutKind::kContiguous, LayoutKind::kTransposed,
                                               LayoutKind::kSliced, LayoutKind::kStepped,
                                               LayoutKind::kReversed};

inline constexpr DType kFloats[] = {DType::kF64, DType::kF32, DType::kBF16, DType::kF16};
inline constexpr DType kNumbers[] = {DType::kF64, DType::kF32, DType::kBF16,
                                     DType::kF16, DType::kI64, DType::kI32};
inline constexpr DType kAllDTypes[] = {DType::kF64, DType::kF32, DType::kBF16, DType::kF16,
                                       DType::kI64, DType::kI32, DType::kBool};

std::string name(LayoutKind kind);

// Normal numbers for floating dtypes, -9 to 9 for integers. The same seed gives the same values.
Tensor random_tensor(const Dims& shape, DType dtype, LayoutKind kind, uint64_t seed);

// `values`, which must be as many as `shape` has, rounded to `dtype`; row-major.
Tensor tensor_of(const std::vector<double>& values, const Dims& shape, DType dtype);

// The same layout and dtype without bytes.
Tensor on_meta(const Tensor& x);

}  // namespace epi
