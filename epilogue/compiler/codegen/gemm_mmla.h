// SPDX-License-Identifier: Apache-2.0
// The GEMMs with bfmmla and smmla of AArch64, which multiply two rows of x by two columns of
// weights, four bf16 or eight int8 at a time, and add to a register of 2 x 2 sums. x is packed into
// blocks of tile.rows rows (fewer in the last, an odd number padded with a row of zeros). k is
// zero-padded.
//   bf16: for each four k, a block holds these four of every row, and a panel holds them of every
//   column.
//   int8: for each 32 k, a block holds for every two rows four registers of eight k, then the
//   scale of the first row twice and that of the second twice. A panel holds four registers for
//   every two columns, then the scales of all columns if they are in groups.
#pragma once

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

inline constexpr int kMmlaDepth = 4;  // k per step of bf16
inline constexpr int kMmlaRows = 2;   // rows of x in one instruction, and columns

std::string emit_gemm_mmla(const std::string& name, const GemmCode& code, const GemmTile& tile,
                           const Target& target);

}  // namespace epi::compiler
