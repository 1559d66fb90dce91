// SPDX-License-Identifier: Apache-2.0
// Chooses the form of a GEMM for a number of rows.
#include <algorithm>
#include <iterator>

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
    {2, 128, 96, 1189, 581.5},  {2, 128, 128, 1751, 768.4}, {2, 128, 64, 978, 397.6},
    {2, 256, 96, 2045, 1104.4}, {2, 256, 64, 1420, 759.7},  {1, 128, 96, 1157, 586.7},
    {1, 128, 128, 2107, 753.8}, {1, 128, 64, 1071, 401.8},  {1, 256, 96, 3106, 1104.0},
    {1, 256, 64, 2195, 754.6},
};

const TileTimes& times_of(const GemmCode& code, const HopperTile& tile) {
  return *std::find_if(std::begin(kTileTimes), std::end(kTileTimes), [&](const TileTimes& times) {
    return times.gemms == code.gemms && times.rows == tile.rows && times.half == tile.half;
  });
}

}  // namespace

double HopperTile::time_ns(const GemmCode& code, int64_t rows_of_x, int processors) const {
  const TileTimes& times = times_of(code, *this);
  const auto waves = static_cast<double>(ceil_div(tiles(code, rows_of_x), processors));
  const auto steps = static_cast<double>(ceil_div(code.k, kTileDepth));
  return waves * (times.fixed_ns + steps * times.step_ns);
}

HopperTile choose_tile(const GemmCode& code, int64_t rows, int processors) {
  HopperTile best = hopper_tiles().front();
  for (const HopperTile& tile : hopper_tiles()) {
    if (code.k < tile.min_depth(code)) continue;
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
  const HopperStream stream = choose_stream(rows);
  const int64_t tiles = ceil_div(code.n, stream.rows);
  const auto tile_bytes = static_cast<double>(2 * code.gemms * code.k * stream.rows);
  const auto wave_ns = [&](int64_t active) {
    return tile_bytes / std::min(kProcessorRate, kMemoryRate / static_cast<double>(active));
  };
  const int64_t full_waves = tiles / processors;
  const int64_t tail = tiles % processors;
  const double tail_ns =
      tail == 0 ? 0 : wave_ns(has_epilogue || tiles < processors ? tail : processors);
  return static_cast<double>(full_waves) * wave_ns(processors) + tail_ns;
}

// A library that splits the sum of an element across SMs keeps all of them busy, at the rate of
// full tiles, but needs more kernels for an epilogue.
double library_ns(const GemmCode& code, int64_t rows, int processors) {
  constexpr double kRest = 1.05;  // its tiles do not divide the work evenly either
  const TileTimes& times = times_of(code, {128, 128});
  const auto outputs = static_cast<double>(rows) * static_cast<double>(code.n);
  const auto steps = static_cast<double>(ceil_div(code.k, kTileDepth));
  const double tiles = outputs * code.gemms / (2 * times.rows * times.half) / processors;
  const double multiply_ns = kRest * tiles * (times.fixed_ns + steps * times.step_ns);
  const double read_ns = static_cast<double>(2 * code.gemms * code.n * code.k) / kMemoryRate;
  const bool has_epilogue = !code.program.steps.empty();
  const double epilogue_ns =
      has_epilogue ? 2 * (code.gemms + 1) * outputs / kMemoryRate + 2 * kLaunchNs : 0;
  return std::max(multiply_ns, read_ns) + epilogue_ns + kLaunchNs;
}

}  // namespace

bool fills_gpu(const GemmCode& code, int64_t rows, int processors) {
  if (rows > kMaxRows) return false;
  if (rows <= kMaxDecodeRows) return true;  // every SM reads the same share of the weights
  const double custom_ns =
      rows <= kMaxStreamRows ? stream_ns(code, rows, processors)
                             : choose_tile(code, rows, processors).time_ns(code, rows, processors);
  return custom_ns <= library_ns(code, rows, processors) + kLibraryNs;
}

HopperStream choose_stream(int64_t rows) { return {32, rows <= 32 ? 32 : 64}; }

std::vector<HopperStream> hopper_streams() { return {{32, 32}, {32, 64}}; }

HopperDecode choose_decode(int64_t rows) { return {rows <= 8 ? 8 : 16}; }

std::vector<HopperDecode> hopper_decodes() { return {{8}, {16}}; }

}  // namespace epi::compiler
