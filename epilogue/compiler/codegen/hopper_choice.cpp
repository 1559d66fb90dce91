// SPDX-License-Identifier: Apache-2.0
// Chooses the form of a GEMM for a number of rows.
#include <algorithm>
#include <limits>

#include "epilogue/compiler/codegen/hopper_code.h"

namespace epi::compiler {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

int64_t HopperTile::tiles(const GemmCode& code, int64_t rows) const {
  return ceil_div(rows, kTileRows) * ceil_div(code.n, columns(code));
}

// Unit: rows of weights, of each of the two halves, that a block multiplies by 128 rows of x in
// sequence. Smaller tiles read more data for the same work. The penalty is fitted to an H200.
double HopperTile::cost(const GemmCode& code, int64_t rows, int processors) const {
  constexpr int64_t kDeep = 48 * kTileDepth;
  const auto waves = static_cast<double>(ceil_div(tiles(code, rows), processors));
  const double penalty = half == 64 ? 1.06 : half == 96 && code.k >= kDeep ? 1.03 : 1;
  return waves * half * penalty;
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

// Compares with a library that splits the sum of an element across SMs: it keeps all SMs busy, but
// pays for launching an epilogue, about as long as a wave of small tiles.
bool fills_gpu(const GemmCode& code, int64_t rows, int processors) {
  if (rows > kMaxRows) return false;
  if (rows <= kMaxStreamRows) {
    // A few blocks cannot saturate memory, unless there is very little to read.
    const int64_t tiles = ceil_div(code.n, choose_stream(code, rows, processors).rows);
    return 4 * tiles >= processors || code.k <= 2048;
  }
  const double depth = static_cast<double>(ceil_div(code.k, kTileDepth));
  const double halves = static_cast<double>(code.n) * code.gemms / 2;
  const double evenly = static_cast<double>(ceil_div(rows, kTileRows)) * halves / processors;
  const double cost = choose_tile(code, rows, processors).cost(code, rows, processors);
  const bool has_epilogue = !code.program.steps.empty();
  constexpr double kLaunchCost = 640;  // about 3 us on an H200
  return (cost - evenly * (has_epilogue ? 1.2 : 1.05)) * depth <=
         (has_epilogue ? kLaunchCost : kLaunchCost / 2);
}

// Picks the smallest capacity that holds the rows of x, and the number of weight rows that
// distributes the weights most evenly.
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
  if (best.tokens >= 32) best.rows = 32;  // with fewer, reading x costs as much as the weights
  return best;
}

}  // namespace epi::compiler
