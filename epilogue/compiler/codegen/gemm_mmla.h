// SPDX-License-Identifier: Apache-2.0
// The bf16 GEMM with bfmmla of AArch64, which multiplies two rows of x by two columns of weights,
// four k at a time, and adds to a register of 2 x 2 sums. x is packed into blocks of tile.rows rows
// (fewer in the last, an odd number padded with a row of zeros). For each four k, a block holds
// these four of every row, and a panel holds them of every column. k is zero-padded.
#pragma once

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

inline constexpr int kMmlaDepth = 4;  // k per step
inline constexpr int kMmlaRows = 2;   // rows of x in one instruction, and columns

std::string emit_gemm_mmla(const std::string& name, const GemmCode& code, const GemmTile& tile,
                           const Target& target);

}  // namespace epi::compiler
