// SPDX-License-Identifier: Apache-2.0
// Code for a GEMM with an epilogue: out = program(x @ w0, x @ w1, operands ...), where x is [M, k]
// with dynamic M, and the weights [k, n] are packed into panels of a few columns (packing.h). A
// tile of the output stays in registers over all of k, and the program is applied to it there. With
// two GEMMs a panel holds columns of both weights side by side, so that gate and up are in
// registers at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "epilogue/compiler/codegen/program.h"

namespace epi::compiler {

// An operand of the program besides the sums, addressed by the row and column of the [M, n] output.
struct GemmOperand {
  DType dtype = DType::kF32;
  int64_t row_stride = 0;
  int64_t column_stride = 0;
};

// A GEMM with int8 weights.
struct Int8Code {
  bool int8_input = false;  // x is quantized in groups of 32 along k
  // Every 32 k of a column have a scale, which is packed with the weights. Otherwise the program
  // multiplies by the scale of the column.
  bool in_groups = false;
};

struct GemmCode {
  int gemms = 1;
  DType dtype = DType::kF32;  // of x, and of weights that are not int8
  std::optional<Int8Code> int8{};
  int64_t n = 0;  // of each GEMM
  int64_t k = 0;
  Program program;  // its first inputs are the sums of the GEMMs
  std::vector<DType> outputs;
  std::vector<GemmOperand> operands;
  bool exact = false;  // activations are bitwise equal to those of pointwise kernels
};

// "2 mm, gelu, mul": for comments.
std::string operators_of(const GemmCode& code);

// The instructions that compute the GEMM.
enum class GemmKind : uint8_t {
  kVectors,    // f32 multiply-add, for any dtype of the weights
  kHalves,     // the same for bf16: each word holds the weights of two columns
  kPairs,      // bf16, two k per step, accumulated in f32 vectors
  kTiles,      // bf16, with the tile registers of AMX
  kMmla,       // bf16, with bfmmla of AArch64
  kFmlal,      // f16, added to f32 vectors by fmlal of AArch64
  kSmmla,      // int8, with smmla of AArch64
  kDots,       // int8, four k per step
  kVnni,       // int8, the same with vpdpbusd of x86: weights are stored plus 128
  kInt8Tiles,  // int8, with the tile registers of AMX; the rows below full tiles with vpdpbusd
};

struct GemmTile {
  GemmKind kind = GemmKind::kVectors;
  int rows = 1;     // max rows of x in one pass over a panel
  int columns = 1;  // columns of each GEMM in one panel
};

// The arguments of a function: the packed rows of x, the packed weights, then the first elements of
// the outputs and of the operands.
using GemmArgument = const std::byte*;
inline constexpr int kFirstOther = 2;

// Computes rows [row_begin, row_end) of one panel. row_begin is a multiple of the tile's rows. With
// AMX, the function has another type (gemm_tiles.h).
using GemmFunction = void (*)(const GemmArgument* arguments, int64_t row_begin, int64_t row_end,
                              int64_t panel);

}  // namespace epi::compiler
