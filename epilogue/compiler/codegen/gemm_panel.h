// SPDX-License-Identifier: Apache-2.0
// The function of one panel of weights, which calls the functions of its tiles for all rows of a
// block. If the panel exceeds half the L1 cache, full tiles are computed in several passes over k:
// all of them use one part of the panel before the next one, and keep their sums in a buffer. A
// panel may be stored in a form that has to be unpacked: full tiles use a part of it that is
// unpacked once for all of them, the lower tiles unpack what they use.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "epilogue/compiler/codegen/gemm_code.h"
#include "epilogue/compiler/codegen/ir_writer.h"
#include "epilogue/compiler/codegen/target.h"
#include "epilogue/compiler/codegen/tile_config.h"

namespace epi::compiler {

class GemmPanel {
 public:
  // Sizes of one step along k, and the rows that one instruction multiplies.
  struct Step {
    int64_t count = 0;
    int64_t panel_bytes = 0;
    int64_t row_bytes = 0;  // of one row of x
    int rows = 1;
    int64_t unpacked_bytes = 0;                  // of a panel that has to be unpacked
    std::span<const TileSize> tile_registers{};  // of AMX that full tiles use
  };
  GemmPanel(std::string name, const GemmCode& code, const GemmTile& tile, const Target& target,
            const Step& step);

  // Heights of the tiles: the full one, then those for the rows below the last full tile.
  const std::vector<int>& heights() const { return heights_; }
  bool is_full(int height) const { return height == tile_.rows; }
  bool is_unpacked(int height) const { return is_full(height) && step_.unpacked_bytes > 0; }
  bool has_passes(int height) const { return is_full(height) && pass_steps_ < step_.count; }

  // Starts the function of tiles of this height. Its arguments: %x, the packed rows; %height, the
  // number of rows that are packed together; %panel; %row and %column, the position in the output;
  // %rows, the number of rows that exist from %row on. An unpacked %panel holds only the steps of
  // the pass, at the addresses that they would have in a whole one.
  void begin_tile(IrWriter& out, int height) const;
  // Starts a loop over k, in which %k counts steps and each sum is a phi %sumNAME, and ends it. The
  // loop updates each sum as %newNAME. What follows runs once the sums are complete. An iteration
  // covers `steps` steps in each of `streams` equal parts of k, and %k is the first of them.
  void begin_loop(IrWriter& out, int height, const std::vector<std::string>& sums) const;
  void end_loop(IrWriter& out, int height, const std::vector<std::string>& sums, int streams = 1,
                int steps = 1) const;

  // The total of a sum over its streams, which are named SUM.0, SUM.1 and so on.
  IrValue emit_total(IrWriter& out, const std::string& sum, int streams) const;
  // Prefetches into L2 what each of `streams` reads next, from the loop of a flat tile: `bytes` at
  // the address `line` in an iteration. At its end, a stream goes on in the next panel.
  void emit_prefetch(IrWriter& out, const IrValue& line, int64_t bytes, int streams) const;

  // Starts the function that unpacks the steps from %first to %last of %panel to the address %to.
  void begin_unpack(IrWriter& out) const;
  // Emits the function of the panel.
  void emit(IrWriter& out, std::string_view operators) const;

 private:
  void emit_full_tiles(IrWriter& out) const;
  void emit_lower_tiles(IrWriter& out) const;

  std::string name_;
  int gemms_;
  GemmTile tile_;
  Step step_;
  std::string vector_;  // "<4 x float>"
  int vector_bytes_;
  int64_t pass_steps_;  // of one pass over the full tiles
  std::vector<int> heights_;
};

}  // namespace epi::compiler
