// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/plan/run_tiles.h"

#include <algorithm>

#include "epilogue/base/machine.h"
#include "epilogue/base/thread_pool.h"
#include "epilogue/compiler/codegen/gemm_tiles.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

// If k is split, the rows of x come from the L3 cache. This many panels use them often enough.
constexpr int64_t kMinPanels = 8;
constexpr int64_t kMaxRowTiles = 16;
// A thread that shares its core with another process finishes its blocks later. The other threads
// then take more of them.
constexpr int64_t kBlocksPerThread = 4;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The order of the tiles, and how many equal parts the panels, the tiles of rows and the steps of k
// are split into.
struct Split {
  bool rows_inside = false;
  int64_t panels = 1;
  int64_t rows = 1;
  int64_t steps = 1;
};

// If the rows of x fit into half of the L2 cache, they stay there, and panel after panel is
// multiplied by all of them. Otherwise, a block of panels stays there; if k is so long that few
// panels fit, it is split, and the other half of the cache holds the sums. `epilogue
// bench linear --dtype bf16 --m 2048 --in-dim 768 --out-dim 3072`, and 3072 to 768, shows the
// effect of a change.
Split choose_split(int64_t panels, int64_t tiles, int64_t steps) {
  static const int64_t half_l2_bytes = cache_bytes(2) / 2;
  Split split;
  split.rows_inside = tiles * steps * kTileStepBytes <= half_l2_bytes;
  if (!split.rows_inside) {
    int64_t block_panels = half_l2_bytes / (steps * kTileStepBytes);
    int64_t block_tiles = kMaxRowTiles;
    if (block_panels < kMinPanels) {
      block_panels = kMinPanels;
      split.steps = ceil_div(steps * kMinPanels * kTileStepBytes, half_l2_bytes);
      block_tiles = std::max<int64_t>(half_l2_bytes / (kMinPanels * kTileSumsBytes), 1);
    }
    split.panels = ceil_div(panels, block_panels);
    split.rows = ceil_div(tiles, block_tiles);
  }
  const int64_t wanted = num_threads() == 1 ? 1 : num_threads() * kBlocksPerThread;
  if (split.rows_inside) split.panels = std::min(panels, wanted);
  if (split.panels * split.rows < wanted) {
    split.rows = std::min(tiles, ceil_div(wanted, split.panels));
    split.panels = std::max(split.panels, std::min(panels, ceil_div(wanted, split.rows)));
  }
  return split;
}

class TilesRun {
 public:
  TilesRun(const GemmCall& call, const GemmArgument* arguments)
      : call_(call),
        arguments_(arguments),
        panels_(panels_of(*call.code, call.tile)),
        tiles_(ceil_div(call.x.count, kTileRows)),
        steps_(tile_steps(*call.code)),
        split_(choose_split(panels_, tiles_, steps_)) {}

  void run() const {
    // At least two tiles per part: packing one is not worth waking a thread.
    parallel_for(tiles_, 2, [&](int64_t begin, int64_t end) {
      pack_rows(*call_.code, call_.tile, call_.x, begin * kTileRows,
                std::min(end * kTileRows, call_.x.count), call_.packed_x);
    });
    // Consecutive blocks have the same panels.
    parallel_for(split_.panels * split_.rows, 1, [&](int64_t begin, int64_t end) {
      Tensor sums;
      for (int64_t block = begin; block < end; ++block) multiply(block, sums);
    });
  }

 private:
  void multiply(int64_t block_index, Tensor& sums) const {
    const int64_t row = block_index % split_.rows;
    const int64_t panel = block_index / split_.rows;
    TilesBlock block;
    block.row_begin = first_row(row);
    block.row_end = std::min(first_row(row + 1), call_.x.count);
    block.panel_begin = panel * panels_ / split_.panels;
    block.panel_end = (panel + 1) * panels_ / split_.panels;
    block.rows_inside = split_.rows_inside ? 1 : 0;
    if (split_.steps > 1) {
      const int64_t tiles = ceil_div(block.row_end - block.row_begin, kTileRows);
      const int64_t bytes = tiles * (block.panel_end - block.panel_begin) * kTileSumsBytes;
      if (!sums.defined() || sums.size_bytes() < bytes) sums = empty({bytes / 4});
      block.sums = sums.data<float>();
    }
    const auto function = reinterpret_cast<GemmTilesFunction>(call_.function);
    for (int64_t part = 0; part < split_.steps; ++part) {
      block.step_begin = part * steps_ / split_.steps;
      block.step_end = (part + 1) * steps_ / split_.steps;
      function(arguments_, &block);
    }
  }
  int64_t first_row(int64_t row_block) const {
    return row_block * tiles_ / split_.rows * kTileRows;
  }

  const GemmCall& call_;
  const GemmArgument* arguments_;
  int64_t panels_;
  int64_t tiles_;
  int64_t steps_;
  Split split_;
};

}  // namespace

void run_tiles(const GemmCall& call, const GemmArgument* arguments) {
  TilesRun(call, arguments).run();
}

}  // namespace epi::compiler
