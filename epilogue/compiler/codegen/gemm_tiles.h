// SPDX-License-Identifier: Apache-2.0
// The bf16 GEMM by AMX: eight tile registers of 16 rows of 64 bytes. Four hold 32 x 32 sums, two
// hold x, two the weights. A tile of weights is 16 pairs of k by 16 columns, two bf16 next to each
// other; a panel has the two tiles of 32 k after each other, k by k. x is read as it lies, row by
// row. AMX has no way from tiles to vector registers but memory: sums pass through 4 KiB of stack.
#pragma once

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

inline constexpr int kTileRows = 32;
inline constexpr int kTileColumns = 32;
inline constexpr int kTileDepth = 32;  // k of one step

// x must have rows of a whole number of steps: k rounded up, the rest zero.
std::string emit_gemm_tiles(const std::string& name, const GemmCode& code, const Target& target);

}  // namespace epi::compiler
