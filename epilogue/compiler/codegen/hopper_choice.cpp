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
  HopperTile best = hopper_tiles().front();
  for (const HopperTile& tile : hopper_tiles()) {
    if (tile.cost(code, rows, processors) < best.cost(code, rows, processors)) best = tile;
  }
  return best;
}

std::vector<HopperTile> hopper_tiles() { return {{96}, {128}, {64}}; }

namespace {

// Bytes per nanosecond from memory, and into one SM if few others read. Measured on an H200 with
// bench/glu_rows.
constexpr double kMemoryRate = 4000;
constexpr double kProcessorRate = 90;
// An SM takes as long for a tile of few weight rows as for one of 64: its instructions have 64
// rows. Per row: with `glu_rows 2048 16384 1`, tiles of 16 rows stream down at 21 bytes per
// nanosecond.
constexpr double kRowRate = 1.35;
// A kernel after another in a graph, in nanoseconds. With an epilogue, the library needs three
// kernels instead of one.
constexpr double kLaunchNs = 2000;
// A call of the library takes about ten microseconds more of host time, which counts where the host
// is the bottleneck. So it must save this much of GPU time. A judgment, not a measurement.
constexpr double kLibraryNs = 3000;

// A library distributes the weights evenly. With an epilogue, the SMs of the last wave have the
// memory to themselves. Without one, k is longer, and the last wave takes as long as the others:
// with `glu_rows 5120 13824 1`, whose down has 2.4 waves, the block takes 130 us, and 109 us with
// the library's down.
bool streams_fast(const GemmCode& code, int64_t rows, int processors) {
  const bool has_epilogue = !code.program.steps.empty();
  const int weights = choose_stream(code, rows, processors).rows;
  const int64_t tiles = ceil_div(code.n, weights);
  const auto row_bytes = static_cast<double>(2 * code.gemms * code.k);
  const double tile_bytes = weights * row_bytes;
  const auto wave_ns = [&](int64_t active) {
    return tile_bytes / std::min({kProcessorRate, kMemoryRate / static_cast<double>(active),
                                  kRowRate * code.gemms * weights});
  };
  const int64_t full_waves = tiles / processors;
  const int64_t tail = tiles % processors;
  const double tail_ns =
      tail == 0 ? 0 : wave_ns(has_epilogue || tiles < processors ? tail : processors);
  const double custom_ns = static_cast<double>(full_waves) * wave_ns(processors) + tail_ns;
  const double library_ns =
      static_cast<double>(code.n) * row_bytes / kMemoryRate + (has_epilogue ? 3 : 1) * kLaunchNs;
  return custom_ns <= library_ns + kLibraryNs;
}

}  // namespace

// Compares with a library that splits the sum of an element across SMs and has tiles of fewer rows:
// it keeps all SMs busy, but pays for launching an epilogue, about as long as a wave of small
// tiles.
bool fills_gpu(const GemmCode& code, int64_t rows, int processors) {
  if (rows > kMaxRows) return false;
  if (rows <= kMaxStreamRows) return streams_fast(code, rows, processors);
  const double depth = static_cast<double>(ceil_div(code.k, kTileDepth));
  const double halves = static_cast<double>(code.n) * code.gemms / 2;
  const double evenly = static_cast<double>(rows) / kTileRows * halves / processors;
  const double cost = choose_tile(code, rows, processors).cost(code, rows, processors);
  const bool has_epilogue = !code.program.steps.empty();
  constexpr double kLaunchCost = 800;  // about 4 us on an H200
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

std::vector<HopperStream> hopper_streams() {
  return {{16, 8}, {32, 8}, {16, 16}, {32, 16}, {32, 32}, {32, 64}};
}

}  // namespace epi::compiler
