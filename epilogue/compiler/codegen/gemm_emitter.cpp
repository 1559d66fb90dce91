// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_emitter.h"

#include <fmt/format.h>

#include "epilogue/compiler/codegen/gemm_int8.h"
#include "epilogue/compiler/codegen/gemm_mmla.h"
#include "epilogue/compiler/codegen/gemm_tiles.h"
#include "epilogue/compiler/codegen/gemm_vectors.h"

namespace epi::compiler {

namespace {

GemmKind vectors_kind(const GemmCode& code, const Target& target) {
  if (code.dtype == DType::kBF16 && !target.bf16_pairs.empty()) return GemmKind::kPairs;
  if (code.dtype == DType::kBF16 && !target.is_arm()) return GemmKind::kHalves;
  if (code.dtype == DType::kF16 && target.fmlal) return GemmKind::kFmlal;
  return GemmKind::kVectors;
}

// The sums fill the registers except for one row of weights and one element of x. Two vectors per
// row hide the load of that element. AArch64 multiplies by a lane and uses three.
GemmTile vectors_tile(const GemmCode& code, GemmKind kind, const Target& target) {
  if (target.lanes == 4 && target.registers == 32) {
    // The scales of a group of int8 weights take whole bytes per k: columns are a multiple of 8.
    return code.gemms == 1 && !code.int8 ? GemmTile{kind, 8, 12}
                                         : GemmTile{kind, 6, 16 / code.gemms};
  }
  const int rows = target.registers == 32 ? 14 : target.lanes == 8 ? 6 : 4;
  return {kind, rows, 2 * target.lanes / code.gemms};
}

// The integer sums of a group are in registers besides the sums of the tile.
GemmTile int8_tile(const GemmCode& code, const Target& target) {
  if (target.smmla) return {GemmKind::kSmmla, 4, code.gemms == 1 ? 12 : 8};
  // With a scale per column, vpdpbusd is as fast (docs/int8.md).
  if (target.amx_int8 && code.int8->in_groups) {
    return {GemmKind::kInt8Tiles, kInt8TileRows, 2 * target.lanes / code.gemms};
  }
  const bool is_vnni = !target.int8_dots.empty() && !target.is_arm();
  return {is_vnni ? GemmKind::kVnni : GemmKind::kDots, target.registers == 32 ? 8 : 4,
          2 * target.lanes / code.gemms};
}

}  // namespace

GemmTile choose_tile(const GemmCode& code, const Target& target) {
  if (code.int8 && code.int8->int8_input) return int8_tile(code, target);
  if (code.int8) return vectors_tile(code, GemmKind::kVectors, target);
  if (target.amx && code.dtype == DType::kBF16) {
    return {GemmKind::kTiles, kTileRows, kTileColumns / code.gemms};
  }
  if (target.bfmmla && code.dtype == DType::kBF16) {
    // 24 registers of 2 x 2 sums.
    return code.gemms == 1 ? GemmTile{GemmKind::kMmla, 8, 12} : GemmTile{GemmKind::kMmla, 6, 8};
  }
  return vectors_tile(code, vectors_kind(code, target), target);
}

std::string operators_of(const GemmCode& code) {
  const std::string epilogue = operators_of(code.program);
  return fmt::format("{}mm{}{}", code.gemms == 2 ? "2 " : "", epilogue.empty() ? "" : ", ",
                     epilogue);
}

std::string emit_gemm(const std::string& name, const GemmCode& code, const Target& target) {
  const GemmTile tile = choose_tile(code, target);
  switch (tile.kind) {
    case GemmKind::kTiles:
      return emit_gemm_tiles(name, code, target);
    case GemmKind::kMmla:
    case GemmKind::kSmmla:
      return emit_gemm_mmla(name, code, tile, target);
    case GemmKind::kDots:
    case GemmKind::kVnni:
    case GemmKind::kInt8Tiles:
      return emit_gemm_int8(name, code, tile, target);
    case GemmKind::kVectors:
    case GemmKind::kHalves:
    case GemmKind::kPairs:
    case GemmKind::kFmlal:
      break;
  }
  return emit_gemm_vectors(name, code, tile, target);
}

}  // namespace epi::compiler
