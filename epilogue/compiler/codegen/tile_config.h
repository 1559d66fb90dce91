// SPDX-License-Identifier: Apache-2.0
// The AMX tile configuration: the sizes of the tile registers.
#pragma once

#include <span>
#include <string_view>

#include "epilogue/compiler/codegen/ir_writer.h"

namespace epi::compiler {

struct TileSize {
  int rows = 0;
  int row_bytes = 0;
};
// Allocates %config, sets the sizes of the registers from 0 on, and loads it.
void emit_tile_sizes(IrWriter& out, std::span<const TileSize> sizes);
// Ends the use of the registers.
void emit_tile_release(IrWriter& out);

// For bf16. Registers 0 and 1 hold the sums of the upper rows, 2 and 3 those of the lower rows, 4
// and 5 the upper and lower rows of x, 6 and 7 the weights. Allocates %config and sets everything
// except the row counts that vary.
void emit_tile_config(IrWriter& out);
// Sets the row counts (i8 values) and loads the configuration.
void emit_tile_rows(IrWriter& out, std::string_view upper, std::string_view lower);

}  // namespace epi::compiler
