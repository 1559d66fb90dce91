// SPDX-License-Identifier: Apache-2.0
// The bf16 GEMM with AMX: eight tile registers of 16 rows of 64 bytes. Four hold 32 x 32 sums, two
// hold x, two the weights. A tile of weights is 16 pairs of k by 16 columns, with the two bf16 of a
// pair adjacent. A panel stores the two tiles of each 32 k one after the other, in order of k. x is
// read in place, row by row. AMX can move data from tiles to vector registers only through memory,
// so the sums pass through 4 KiB of stack.
#pragma once

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

inline constexpr int kTileRows = 32;
inline constexpr int kTileColumns = 32;
inline constexpr int kTileDepth = 32;  // k per step

// The rows of x must be zero-padded to a whole number of steps.
std::string emit_gemm_tiles(const std::string& name, const GemmCode& code, const Target& target);

}  // namespace epi::compiler
