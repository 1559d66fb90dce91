// SPDX-License-Identifier: Apache-2.0
// CUDA C++ for a GEMM with an epilogue on Hopper: out = program(x @ w0.t(), x @ w1.t(), ...), where
// x is [m, k] with m free, and the weights are [n, k] as `linear` has them. Two forms:
//   tiles   many rows: the tensor cores' largest instruction, 128 rows of x by 256 rows of weights;
//   stream  at most 64 rows: the weights take the place of x, and go by at the speed of memory.
#pragma once

#include <string>

#include "epilogue/compile/codegen/gemm_code.h"

namespace epi::compiler {

// Of the tile form. A block's output is kTileRows by kTileColumns (256 of one product, 128 of each
// of two); blocks of a cluster share the weights that they read.
inline constexpr int kTileRows = 128;
inline constexpr int kTileWeights = 256;
inline constexpr int kTileDepth = 64;  // of k in one stage: 128 bytes, the widest swizzle
inline constexpr int kTileThreads = 384;
struct HopperTile {
  int cluster = 2;
  int stages = 4;
  int skew = 4;  // stages that one consumer is ahead of the other
};
int64_t shared_bytes(const GemmCode& code, const HopperTile& tile);
int tile_columns(const GemmCode& code);

// Of the stream form: weight rows of each product in one tile, and rows of x at most.
inline constexpr int kStreamDepth = 256;
inline constexpr int kStreamThreads = 160;
struct HopperStream {
  int rows = 16;
  int tokens = 16;
  int stages = 8;
};
int64_t shared_bytes(const GemmCode& code, const HopperStream& stream);

// What both need, after cuda_prelude().
std::string hopper_prelude();
// One `extern "C"` kernel each.
std::string emit_hopper_tiles(const std::string& name, const GemmCode& code,
                              const HopperTile& tile);
std::string emit_hopper_stream(const std::string& name, const GemmCode& code,
                               const HopperStream& stream);

}  // namespace epi::compiler
