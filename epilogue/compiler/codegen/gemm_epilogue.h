// SPDX-License-Identifier: Apache-2.0
// The epilogue of a GEMM: applies the group's program to sums in registers, and stores the result.
#pragma once

#include <functional>
#include <span>

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

// Loads the addresses of outputs and operands from %args into %other0, %other1, ...
void emit_addresses(IrWriter& out, const GemmCode& code);

// Applies the program at [row, column ...] to one vector of sums of each GEMM. `row` and `column`
// are i64 values. Columns past n are not accessed.
void emit_epilogue(IrWriter& out, const GemmCode& code, const Target& target,
                   std::span<const IrValue> sums, const IrValue& row, const IrValue& column,
                   bool may_pass_end);

// Prefetches the cache lines of the results at [row, column ...], `columns` of each output.
void emit_prefetch_results(IrWriter& out, const GemmCode& code, const IrValue& row,
                           const IrValue& column, int columns);

// Whether the epilogue is so long that sums in registers would be in its way: store them first, and
// use emit_epilogue_loop.
bool has_long_epilogue(const GemmCode& code);
// Applies the program to a buffer of `height` rows of sums, of which the first `rows` (an i64
// value) exist. Each row holds `columns` sums of the first GEMM, then those of the second.
// `previous` is the label of the block that the loop follows.
struct SumsBuffer {
  IrValue address;
  int height = 0;
  int columns = 0;
  IrValue rows;
};
void emit_epilogue_loop(IrWriter& out, const GemmCode& code, const Target& target,
                        const SumsBuffer& sums, std::string_view previous);

// The start and the end of a tile of `rows` rows whose sums are vectors of columns, first those of
// the first GEMM. `sums` emits one of them.
void emit_tile_start(IrWriter& out, const GemmCode& code, const GemmTile& tile, int rows);
using EmitSums = std::function<IrValue(int row, int vector)>;
void emit_tile_end(IrWriter& out, const GemmCode& code, const Target& target, const GemmTile& tile,
                   int rows, const EmitSums& sums);

}  // namespace epi::compiler
