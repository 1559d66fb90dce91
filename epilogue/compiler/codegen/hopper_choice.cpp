// SPDX-License-Identifier: Apache-2.0
// Which form of a GEMM suits how many rows.
#include <algorithm>
#include <limits>

#include "epilogue/compiler/codegen/hopper_code.h"

namespace epi::compiler {
namespace {

int64_t divided_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

int64_t HopperTile::tiles(const GemmCode& code, int64_t rows) const {
  return divided_up(rows, kTileRows) * divided_up(code.n, columns(code));
}

// In rows of weights that a block multiplies by 128 rows of x, one after the other, of each of two
// halves. Smaller tiles read more for as much work: by how much that costs is fitted to an H200.
double HopperTile::cost(const GemmCode& code, int64_t rows, int processors) const {
  constexpr int64_t kDeep = 48 * kTileDepth;
  const auto waves = static_cast<double>(divided_up(tiles(code, rows), processors));
  const double more = half == 64 ? 1.06 : half == 96 && code.k >= kDeep ? 1.03 : 1;
  return waves * half * more;
}

HopperTile choose_tile(const GemmCode& code, int64_t rows, int processors) {
  HopperTile best;
  for (const int half : {96, 128, 64}) {
    const HopperTile tile{half};
    const bool better =
        half == 96 || tile.cost(code, rows, processors) < best.cost(code, rows, processors);
    if (better) best = tile;
  }
  return best;
}

// What a library can do that shares the sums of one element out over processors: all of them busy,
// and as long as a wave of small tiles more for the launch of an epilogue.
bool fills_gpu(const GemmCode& code, int64_t rows, int processors) {
  if (rows > kMaxRows) return false;
  if (rows <= kMaxStreamRows) {
    // A few blocks cannot ask for what memory can give, unless there is next to nothing to read.
    const int64_t tiles = divided_up(code.n, choose_stream(code, rows, processors).rows);
    return 4 * tiles >= processors || code.k <= 2048;
  }
  const double depth = static_cast<double>(divided_up(code.k, kTileDepth));
  const double halves = static_cast<double>(code.n) * code.gemms / 2;
  const double evenly = static_cast<double>(divided_up(rows, kTileRows)) * halves / processors;
  const double cost = choose_tile(code, rows, processors).cost(code, rows, processors);
  const bool has_epilogue = !code.program.steps.empty();
  constexpr double kLaunchCost = 640;  // about 3 us of an H200
  return (cost - evenly * (has_epilogue ? 1.2 : 1.05)) * depth <=
         (has_epilogue ? kLaunchCost : kLaunchCost / 2);
}

// Room for as many rows of x as there are; of the weights as many at a time as share them out best.
HopperStream choose_stream(const GemmCode& code, int64_t rows, int processors) {
  HopperStream best;
  best.tokens = rows <= 8 ? 8 : rows <= 16 ? 16 : rows <= 32 ? 32 : 64;
  int64_t best_cost = std::numeric_limits<int64_t>::max();
  for (const int weights : {32, 16}) {
    const int64_t tiles = (code.n + weights - 1) / weights;
    const int64_t cost = (tiles + processors - 1) / processors * weights;
    if (cost >= best_cost) continue;
    best_cost = cost;
    best.rows = weights;
  }
  if (best.tokens >= 32) best.rows = 32;  // x is as much to read as fewer weights
  return best;
}

}  // namespace epi::compiler
