// SPDX-License-Identifier: Apache-2.0
// Packs the operands of GEMMs with int8 weights. gemm_int8.h, gemm_mmla.h and gemm_vectors.h
// describe the layouts.
#pragma once

#include "epilogue/compiler/plan/packing.h"

namespace epi::compiler {

// Bytes of a packed panel.
int64_t int8_panel_size(const GemmCode& code, const GemmTile& tile);
// Packs a panel. `scales` are [n, groups], one for each of `weights`, if they are in groups.
void pack_int8_panel(const GemmCode& code, const GemmTile& tile, std::span<const Tensor> weights,
                     std::span<const Tensor> scales, int64_t panel, std::byte* to);

// Quantizes and packs a block of tile.rows rows of x, fewer in the last block.
void pack_int8_rows(const GemmCode& code, const GemmTile& tile, const Rows& rows, int64_t block,
                    std::byte* to);

}  // namespace epi::compiler
