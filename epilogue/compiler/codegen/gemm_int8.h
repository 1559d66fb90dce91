// SPDX-License-Identifier: Apache-2.0
// GEMMs with int8 weights and quantized x: sizes that their kinds share, and the one with dot
// products of four k at a time. A step covers a group of 32 k. For each group, a row of x takes 32
// bytes, its scale, and four bytes of which only vpdpbusd uses the value: -128 times the sum of the
// row, because it multiplies signed by unsigned numbers and needs the weights plus 128. A panel
// holds for each group, and each four k in it, these four of every column, then the scales
// of all columns if they are in groups.
#pragma once

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

inline constexpr int kInt8Step = 32;
inline constexpr int64_t kInt8RowBytes = kInt8Step + 8;
inline constexpr int kInt8TileRows = 16;  // of a tile with AMX

inline int64_t int8_steps(const GemmCode& code) { return (code.k + kInt8Step - 1) / kInt8Step; }
// Bytes of a step of a panel.
inline int64_t int8_panel_bytes(const GemmCode& code, const GemmTile& tile) {
  return int64_t{tile.columns} * code.gemms * (kInt8Step + (code.int8->in_groups ? 4 : 0));
}

std::string emit_gemm_int8(const std::string& name, const GemmCode& code, const GemmTile& tile,
                           const Target& target);

}  // namespace epi::compiler
