// SPDX-License-Identifier: Apache-2.0
// What AMX is told about its eight registers before they are used: 0 and 1 hold sums of the upper
// rows, 2 and 3 of the lower ones, 4 and 5 those rows of x, 6 and 7 weights.
#pragma once

#include <string_view>

#include "epilogue/compiler/codegen/ir_writer.h"

namespace epi::compiler {

// Makes %config, with everything but the numbers of rows that vary.
void emit_tile_config(IrWriter& out);
// Sets these (i8 values), and loads it.
void emit_tile_rows(IrWriter& out, std::string_view upper, std::string_view lower);

}  // namespace epi::compiler
