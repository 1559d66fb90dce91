// SPDX-License-Identifier: Apache-2.0
// CUDA C++ for a GEMM with an epilogue on Hopper: out = program(x @ w0.t(), x @ w1.t(), ...), where
// x is [m, k] with m free, and the weights are [n, k] as `linear` has them. Two forms:
//   tiles   many rows: the tensor cores' largest instruction, 128 rows of x by 256 rows of weights;
//   stream  at most 64 rows: the weights take the place of x, and go by at the speed of memory.
#pragma once

#include <optional>
#include <string>

#include "epilogue/compiler/codegen/gemm_code.h"

namespace epi::compiler {

// Sizes are ints in a kernel, and rounded up to tiles.
inline constexpr int64_t kMaxRows = (int64_t{1} << 31) - 512;
inline constexpr int64_t kMaxSharedBytes = 232448;  // that a block can have

// The tile form: a block multiplies kTileRows rows of x by two tiles of `half` rows of weights, of
// one GEMM or of two.
inline constexpr int kTileRows = 128;
inline constexpr int kTileDepth = 64;  // of k in one stage: 128 bytes, the widest swizzle
inline constexpr int kTileThreads = 384;
struct HopperTile {
  int half = 128;  // 128, 96 or 64

  int columns(const GemmCode& code) const;  // of the output
  int strip(const GemmCode& code) const;    // columns that are stored at once
  int stages(const GemmCode& code) const;
  int64_t stage_bytes() const;
  int64_t shared_bytes(const GemmCode& code) const;
  int64_t tiles(const GemmCode& code, int64_t rows) const;
  // What `rows` of x take, to compare tiles by.
  double cost(const GemmCode& code, int64_t rows, int processors) const;
};
// The tile that keeps this many processors busiest.
HopperTile choose_tile(const GemmCode& code, int64_t rows, int processors);
// For so many rows there are enough tiles: else a library, which shares sums out, is faster, its
// separate epilogue included.
bool fills_gpu(const GemmCode& code, int64_t rows, int processors);

// The stream form: weight rows of each GEMM in one tile, and rows of x at most.
inline constexpr int kMaxStreamRows = 64;
inline constexpr int kStreamThreads = 160;
struct HopperStream {
  int rows = 16;
  int tokens = 16;
  int slabs = 4;  // of kTileDepth in one stage

  int stages(const GemmCode& code) const;
  int64_t shared_bytes(const GemmCode& code) const;
};

HopperStream choose_stream(const GemmCode& code, int64_t rows, int processors);

// Operands of an epilogue at most, beside the sums.
inline constexpr int kMaxHopperOperands = 12;

// What kernels need, after cuda_prelude(): those of both forms, or of one alone, which is compiled
// faster.
std::string hopper_prelude();
std::string hopper_prelude(const HopperTile& tile);
std::string hopper_prelude(const HopperStream& stream);
// One `extern "C"` kernel each.
std::string emit_hopper_tiles(const std::string& name, const GemmCode& code,
                              const HopperTile& tile);
std::string emit_hopper_stream(const std::string& name, const GemmCode& code,
                               const HopperStream& stream);

}  // namespace epi::compiler
