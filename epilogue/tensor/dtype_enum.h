// SPDX-License-Identifier: Apache-2.0
// The element type enum alone, for CUDA sources: they are C++17 and cannot include dtype.h.
#pragma once

#include <cstdint>

namespace epi {

enum class DType : uint8_t { kF64, kF32, kBF16, kF16, kI64, kI32, kBool, kI8 };
inline constexpr int kDTypeCount = 8;

}  // namespace epi
