// SPDX-License-Identifier: Apache-2.0
// The bf16 GEMM with AMX: eight tile registers of 16 rows of 64 bytes. Four hold 32 x 32 sums, two
// hold x, two the weights. A tile of weights is 16 pairs of k by 16 columns, with the two bf16 of a
// pair adjacent. A panel stores the two tiles of each 32 k one after the other, in order of k; the
// packed rows of x are stored likewise. AMX can move data from tiles to vector registers only
// through memory: the epilogue reads the sums of a tile from there while AMX multiplies the next
// tile. A flat tile, of up to 16 rows that are all of x, is limited by reading the weights: it
// reads them at several positions at once.
#pragma once

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

inline constexpr int kTileRows = 32;
inline constexpr int kTileColumns = 32;
inline constexpr int kTileDepth = 32;  // k per step
// Size of one step of 32 packed rows of x, or of a panel.
inline constexpr int64_t kTileStepBytes = int64_t{2} * kTileRows * kTileDepth;
// Size of the f32 sums of one tile.
inline constexpr int64_t kTileSumsBytes = int64_t{4} * kTileRows * kTileColumns;

inline int64_t tile_steps(const GemmCode& code) { return (code.k + kTileDepth - 1) / kTileDepth; }

// The part of a GEMM that one call computes. If it does not cover all steps, it continues from the
// sums of the previous call with this block, and leaves its own for the next one.
struct TilesBlock {
  int64_t row_begin = 0;  // a multiple of kTileRows
  int64_t row_end = 0;
  int64_t panel_begin = 0;
  int64_t panel_end = 0;
  int64_t step_begin = 0;
  int64_t step_end = 0;
  int64_t rows_inside = 0;  // the order of tiles: 1 for all rows of a panel before the next panel
  float* sums = nullptr;    // kTileSumsBytes per tile; not used if all steps are covered
};
using GemmTilesFunction = void (*)(const GemmArgument* arguments, const TilesBlock* block);

// Returns the IR of a GemmTilesFunction.
std::string emit_gemm_tiles(const std::string& name, const GemmCode& code, const Target& target);

}  // namespace epi::compiler
