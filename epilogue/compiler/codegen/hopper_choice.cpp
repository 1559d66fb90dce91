// SPDX-License-Identifier: Apache-2.0
// Chooses the form of a GEMM for a number of rows.
#include <algorithm>
#include <iterator>
#include <limits>

#include "epilogue/compiler/codegen/hopper_code.h"

namespace epi::compiler {
namespace {

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

int64_t HopperTile::tiles(const GemmCode& code, int64_t rows_of_x) const {
  return ceil_div(rows_of_x, rows) * ceil_div(code.n, columns(code));
}

namespace {

// Nanoseconds that an SM takes for a tile: a fixed time, for the epilogue and the start of the
// pipeline, and a time per step of kTileDepth columns of k. Measured on an H200 at its power limit
// with bench/gemm_forms, which prints these lines.
struct TileTimes {
  int gemms;
  int rows;
  int half;
  double fixed_ns;
  double step_ns;
};
constexpr TileTimes kTileTimes[] = {
    {2, 128, 96, 1182, 600.1},  {2, 128, 128, 1989, 771.6}, {2, 128, 64, 756, 417.5},
    {2, 256, 96, 2211, 1116.9}, {2, 256, 64, 1182, 781.9},  {1, 128, 96, 1214, 589.8},
    {1, 128, 128, 1519, 761.3}, {1, 128, 64, 850, 411.8},   {1, 256, 96, 2479, 1125.3},
    {1, 256, 64, 1473, 773.9},
};

const TileTimes& times_of(const GemmCode& code, const HopperTile& tile) {
  return *std::find_if(std::begin(kTileTimes), std::end(kTileTimes), [&](const TileTimes& times) {
    return times.gemms == code.gemms && times.rows == tile.rows && times.half == tile.half;
  });
}

}  // namespace

double HopperTile::time_ns(const GemmCode& code, int64_t rows_of_x, int processors) const {
  const TileTimes& times = times_of(code, *this);
  const int64_t count = tiles(code, rows_of_x);
  const auto waves = static_cast<double>(ceil_div(count, processors));
  const auto steps = static_cast<double>(ceil_div(code.k, kTileDepth));
  return waves * (times.fixed_ns + steps * times.step_ns);
}

// Over 98 shapes of up to 1024 rows, the chosen tile takes 1.012 times as long as the fastest one
// on average, and at most 1.124 times (`bench/gemm_forms choices`, H200).
HopperTile choose_tile(const GemmCode& code, int64_t rows, int processors) {
  HopperTile best = hopper_tiles().front();
  for (const HopperTile& tile : hopper_tiles()) {
    if (code.k < tile.min_depth(code)) continue;
    // With a single row of tiles every weight comes from memory, and the short ring of tall tiles
    // does not hide that.
    if (tile.rows == 256 && rows <= 256) continue;
    if (tile.time_ns(code, rows, processors) < best.time_ns(code, rows, processors)) best = tile;
  }
  return best;
}

std::vector<HopperTile> hopper_tiles() {
  return {{96, 128}, {128, 128}, {64, 128}, {96, 256}, {64, 256}};
}

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
double stream_ns(const GemmCode& code, int64_t rows, int processors) {
  const bool has_epilogue = !code.program.steps.empty();
  const HopperStream stream = choose_stream(code, rows, processors);
  const int64_t tiles = ceil_div(code.n, stream.rows);
  const auto tile_bytes = static_cast<double>(2 * code.gemms * code.k * stream.rows);
  const auto wave_ns = [&](int64_t active) {
    return tile_bytes / std::min({kProcessorRate, kMemoryRate / static_cast<double>(active),
                                  kRowRate * code.gemms * stream.rows});
  };
  const int64_t full_waves = tiles / processors;
  const int64_t tail = tiles % processors;
  const double tail_ns =
      tail == 0 ? 0 : wave_ns(has_epilogue || tiles < processors ? tail : processors);
  return static_cast<double>(full_waves) * wave_ns(processors) + tail_ns;
}

double read_ns(const GemmCode& code) {
  return static_cast<double>(2 * code.gemms * code.n * code.k) / kMemoryRate;
}

// Every block reads the same share of the weights.
double decode_ns(const GemmCode& code, int processors) {
  const auto blocks = static_cast<double>(HopperDecode{}.blocks(code, processors));
  return read_ns(code) * std::max(1.0, kMemoryRate / (blocks * kProcessorRate));
}

// A library that splits the sum of an element across SMs keeps all of them busy, at the rate of
// full tiles, but needs more kernels for an epilogue.
double library_ns(const GemmCode& code, int64_t rows, int processors) {
  constexpr double kUneven = 1.05;  // its tiles do not divide the work evenly either
  const TileTimes& times = times_of(code, {128, 128});
  const auto outputs = static_cast<double>(rows) * static_cast<double>(code.n);
  const auto steps = static_cast<double>(ceil_div(code.k, kTileDepth));
  const double tiles = outputs * code.gemms / (2 * times.rows * times.half) / processors;
  const double multiply_ns = kUneven * tiles * (times.fixed_ns + steps * times.step_ns);
  const bool has_epilogue = !code.program.steps.empty();
  const double epilogue_ns =
      has_epilogue ? 2 * (code.gemms + 1) * outputs / kMemoryRate + 2 * kLaunchNs : 0;
  return std::max(multiply_ns, read_ns(code)) + epilogue_ns + kLaunchNs;
}

double custom_ns(const GemmCode& code, int64_t rows, int processors) {
  if (rows <= kMaxDecodeRows) return decode_ns(code, processors);
  if (rows <= kMaxStreamRows) return stream_ns(code, rows, processors);
  const HopperTile tile = choose_tile(code, rows, processors);
  return std::max(read_ns(code), tile.time_ns(code, rows, processors));
}

}  // namespace

bool fills_gpu(const GemmCode& code, int64_t rows, int processors) {
  if (rows > kMaxRows) return false;
  return custom_ns(code, rows, processors) <= library_ns(code, rows, processors) + kLibraryNs;
}

// Picks the smallest capacity that holds the rows of x, and the number of weight rows that
// distributes the weights most evenly.
HopperStream choose_stream(const GemmCode& code, int64_t rows, int processors) {
  HopperStream best;
  best.tokens = rows <= 16 ? 16 : rows <= 32 ? 32 : 64;
  if (best.tokens >= 32) return best;  // with fewer weight rows, reading x costs as much as they do
  int64_t best_cost = std::numeric_limits<int64_t>::max();
  for (const int weights : {32, 16}) {
    const int64_t cost = ceil_div(ceil_div(code.n, weights), processors) * weights;
    if (cost >= best_cost) continue;
    best_cost = cost;
    best.rows = weights;
  }
  return best;
}

std::vector<HopperStream> hopper_streams() { return {{16, 16}, {32, 16}, {32, 32}, {32, 64}}; }

}  // namespace epi::compiler
