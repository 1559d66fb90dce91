// SPDX-License-Identifier: Apache-2.0
// Random tensors in every layout that an operator accepts. Storage between the elements is poisoned
// (NaN, or a large integer), so a kernel that ignores strides produces wrong results.
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
// Layouts that can be written to: no two elements share an address.
inline constexpr LayoutKind kDenseLayouts[] = {LayoutKind::kContiguous, LayoutKind::kTransposed,
                                               LayoutKind::kSliced, LayoutKind::kStepped,
                                               LayoutKind::kReversed};

inline constexpr DType kFloats[] = {DType::kF64, DType::kF32, DType::kBF16, DType::kF16};
inline constexpr DType kNumbers[] = {DType::kF64, DType::kF32, DType::kBF16,
                                     DType::kF16, DType::kI64, DType::kI32};
inline constexpr DType kAllDTypes[] = {DType::kF64, DType::kF32, DType::kBF16, DType::kF16,
                                       DType::kI64, DType::kI32, DType::kBool, DType::kI8};

std::string name(LayoutKind kind);

// Normally distributed values for floating dtypes, -9 to 9 for integers.
// The same seed gives the same values.
Tensor random_tensor(const Dims& shape, DType dtype, LayoutKind kind, uint64_t seed);

// A row-major tensor of `values` rounded to `dtype`. There must be numel(shape) values.
Tensor tensor_of(const std::vector<double>& values, const Dims& shape, DType dtype);

// A tensor on `meta` with the layout and dtype of `x`.
Tensor on_meta(const Tensor& x);

}  // namespace epi
