// SPDX-License-Identifier: Apache-2.0
// Quantization in groups: 32 numbers along k share a scale. The last group may be shorter.
#pragma once

#include <cstdint>

namespace epi {

inline constexpr int64_t kInt8Group = 32;
inline constexpr int kInt8Largest = 127;  // magnitude of a quantized number

inline int64_t int8_groups(int64_t k) { return (k + kInt8Group - 1) / kInt8Group; }

}  // namespace epi
