// SPDX-License-Identifier: Apache-2.0
// A full tile of an int8 GEMM with AMX: 16 rows of x by the columns of a panel, in the layouts of
// gemm_int8.h, with scales in groups. Every group of 32 k has its own, so its integer sums leave
// the tile register after one multiplication, through memory, and are added to f32 sums in vector
// registers. AMX multiplies the next group meanwhile.
#pragma once

#include <span>

#include "epilogue/compiler/codegen/gemm_int8.h"
#include "epilogue/compiler/codegen/gemm_panel.h"
#include "epilogue/compiler/codegen/tile_config.h"

namespace epi::compiler {

// The tile registers that it uses.
std::span<const TileSize> int8_tile_registers();

void emit_int8_tile(IrWriter& out, const GemmCode& code, const GemmTile& tile, const Target& target,
                    const GemmPanel& panel);

}  // namespace epi::compiler
