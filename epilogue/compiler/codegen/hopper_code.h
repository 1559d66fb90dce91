// SPDX-License-Identifier: Apache-2.0
// CUDA C++ for a GEMM with an epilogue on Hopper: out = program(x @ w0.t(), x @ w1.t(), ...), where
// x is [m, k] with dynamic m, and the weights are [n, k] as in `linear`. Two forms:
//   tiles   many rows: the largest tensor core instruction, 128 rows of x by 256 rows of weights;
//   stream  at most 64 rows: the operands are swapped, and the weights stream at memory speed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

// Kernels use int for sizes rounded up to tiles.
inline constexpr int64_t kMaxRows = (int64_t{1} << 31) - 512;
inline constexpr int64_t kMaxSharedBytes = 232448;  // per block

// The tile form: a block multiplies kTileRows rows of x by two tiles of `half` rows of weights,
// from one GEMM or from two.
inline constexpr int kTileRows = 128;
inline constexpr int kTileDepth = 64;  // k per stage: 128 bytes, the widest swizzle
inline constexpr int kTileThreads = 384;
struct HopperTile {
  int half = 128;  // 128, 96 or 64

  int columns(const GemmCode& code) const;  // output columns per tile
  int strip(const GemmCode& code) const;    // output columns per TMA store
  int stages(const GemmCode& code) const;
  int64_t stage_bytes() const;
  int64_t shared_bytes(const GemmCode& code) const;
  int64_t tiles(const GemmCode& code, int64_t rows) const;
  // Relative cost for `rows` rows of x, for comparing tiles.
  double cost(const GemmCode& code, int64_t rows, int processors) const;
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
  int rows = 16;
  int tokens = 16;
  int slabs = 4;  // slabs of kTileDepth columns per stage

  int stages(const GemmCode& code) const;
  int64_t shared_bytes(const GemmCode& code) const;
};

HopperStream choose_stream(const GemmCode& code, int64_t rows, int processors);

// All forms that the functions above choose from.
std::vector<HopperTile> hopper_tiles();
std::vector<HopperStream> hopper_streams();

// Maximum number of epilogue operands besides the sums.
inline constexpr int kMaxHopperOperands = 12;

// Device code for the kernels, to follow cuda_prelude(): for both forms, or for a single one, which
// compiles faster.
std::string hopper_prelude();
std::string hopper_prelude(const HopperTile& tile);
std::string hopper_prelude(const HopperStream& stream);
// Each returns one `extern "C"` kernel.
std::string emit_hopper_tiles(const std::string& name, const GemmCode& code,
                              const HopperTile& tile);
std::string emit_hopper_stream(const std::string& name, const GemmCode& code,
                               const HopperStream& stream);

}  // namespace epi::compiler
