// SPDX-License-Identifier: Apache-2.0
// CUDA C++ for a GEMM with an epilogue on Hopper: out = program(x @ w0.t(), x @ w1.t(), ...), where
// x is [m, k] with dynamic m, and the weights are [n, k] as in `linear`. Three forms:
//   tiles   many rows: tiles of 128 or 256 rows of x by up to 256 rows of weights;
//   stream  9 to 64 rows: the operands are swapped, and tiles of weights stream through;
//   decode  at most 8 rows: whole pieces of weight rows stream at memory speed.
// And for two small GEMMs, of which the second takes the result of the first:
//   mlp     both as one kernel, with all weights in the shared memory of a cluster.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

// Kernels use int for sizes rounded up to tiles.
inline constexpr int64_t kMaxRows = (int64_t{1} << 31) - 512;
inline constexpr int64_t kMaxSharedBytes = 232448;  // per block

// The tile form: a block multiplies `rows` rows of x by two tiles of `half` rows of weights, from
// one GEMM or from two. Tiles of 256 rows need a depth of at least their stages.
inline constexpr int kTileDepth = 64;  // k per stage: 128 bytes, the widest swizzle
inline constexpr int kTileThreads = 384;
inline constexpr int kStoredRows = 64;  // per TMA store
struct HopperTile {
  int half = 128;  // 128, 96 or 64
  int rows = 128;  // or 256, with a half of at most 96

  int columns(const GemmCode& code) const;  // output columns per tile
  int strip(const GemmCode& code) const;    // output columns per TMA store
  int stages(const GemmCode& code) const;
  int64_t stage_bytes() const;
  int64_t staged_bytes(const GemmCode& code) const;
  int64_t shared_bytes(const GemmCode& code) const;
  int64_t tiles(const GemmCode& code, int64_t rows_of_x) const;
  int64_t min_depth(const GemmCode& code) const;  // the smallest k
  // An estimate for a number of rows of x.
  double time_ns(const GemmCode& code, int64_t rows_of_x, int processors) const;
};
// The tile that uses this many SMs best.
HopperTile choose_tile(const GemmCode& code, int64_t rows, int processors);
// Whether there are enough tiles for this many rows. If not, a library that splits sums across SMs
// is faster, even with a separate epilogue kernel.
bool fills_gpu(const GemmCode& code, int64_t rows, int processors);

// The stream form: `rows` weight rows of each GEMM per tile, and at most `tokens` rows of x.
inline constexpr int kMaxStreamRows = 64;
inline constexpr int kStreamThreads = 160;
struct HopperStream {
  int rows = 32;
  int tokens = 32;
  int slabs = 4;  // slabs of kTileDepth columns per stage

  int stages(const GemmCode& code) const;
  int64_t shared_bytes(const GemmCode& code) const;
};

// The decode form. The number of stages depends on the rows of x, which the ring also holds.
inline constexpr int kMaxDecodeRows = 8;
inline constexpr int kDecodeThreads = 384;
struct HopperDecode {
  int stages(const GemmCode& code, int64_t rows) const;
  int64_t shared_bytes(const GemmCode& code, int64_t rows) const;
  // Blocks have at least two output columns.
  int64_t blocks(const GemmCode& code, int processors) const;
};

// The MLP form: clusters of kMlpBlocks blocks, each with 16 * row_groups rows of x.
inline constexpr int kMlpThreads = 256;
inline constexpr int kMlpBlocks = 8;
struct HopperMlp {
  int row_groups = 1;  // 1, 2, 4 or 8

  int64_t blocks(int64_t rows) const;
  int64_t shared_bytes(const GemmCode& first, const GemmCode& second) const;
};
// Nothing if two kernels are faster, or the GEMMs do not fit.
std::optional<HopperMlp> choose_mlp(const GemmCode& first, const GemmCode& second, int64_t rows,
                                    int processors);

HopperStream choose_stream(const GemmCode& code, int64_t rows, int processors);

// All forms that the functions above choose from.
std::vector<HopperTile> hopper_tiles();
std::vector<HopperStream> hopper_streams();

// Maximum number of epilogue operands besides the sums.
inline constexpr int kMaxHopperOperands = 12;

// Device code for the kernels, to follow cuda_prelude(): for all forms, or for a single one, which
// compiles faster.
std::string hopper_prelude();
std::string hopper_prelude(const HopperTile& tile);
std::string hopper_prelude(const HopperStream& stream);
std::string hopper_prelude(const HopperDecode& decode);
std::string hopper_prelude(const HopperMlp& mlp);
// Each returns one `extern "C"` kernel.
std::string emit_hopper_tiles(const std::string& name, const GemmCode& code,
                              const HopperTile& tile);
std::string emit_hopper_stream(const std::string& name, const GemmCode& code,
                               const HopperStream& stream);
std::string emit_hopper_decode(const std::string& name, const GemmCode& code,
                               const HopperDecode& decode);
std::string emit_hopper_mlp(const std::string& name, const GemmCode& first, const GemmCode& second);

}  // namespace epi::compiler
