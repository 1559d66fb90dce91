// SPDX-License-Identifier: Apache-2.0
// The tile form (device/tiles.cuh, device/tall_tiles.cuh): its sizes, and the kernel that
// instantiates it with an epilogue.
#include <fmt/format.h>

#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/compiler/codegen/hopper_parts.h"

namespace epi::compiler {
int HopperTile::columns(const GemmCode& code) const { return 2 * half / code.gemms; }

// Strips of the output are 128 bytes wide if the columns allow it, otherwise 64.
int HopperTile::strip(const GemmCode& code) const { return columns(code) % 64 == 0 ? 64 : 32; }

// Two warpgroups stage 64 rows of the output each.
int64_t HopperTile::staged_bytes(const GemmCode& code) const {
  return 2 * kStoredRows * columns(code) * 2;
}

int64_t HopperTile::stage_bytes() const {
  constexpr int64_t kBarriers = 16;
  return (rows + 2 * half) * kTileDepth * 2 + kBarriers;
}

int HopperTile::stages(const GemmCode& code) const {
  return static_cast<int>((kMaxSharedBytes - staged_bytes(code)) / stage_bytes());
}

int64_t HopperTile::shared_bytes(const GemmCode& code) const {
  return stages(code) * stage_bytes() + staged_bytes(code);
}

// Tall tiles multiply as many steps ahead as there are stages.
int64_t HopperTile::min_depth(const GemmCode& code) const {
  return rows == 128 ? 0 : (stages(code) - 1) * kTileDepth + 1;
}

std::string emit_hopper_tiles(const std::string& name, const GemmCode& code,
                              const HopperTile& tile) {
  return in_device_namespace(
      epilogue_struct(name, code) +
      fmt::format(
          "\n// {operators}: tiles of {rows} rows by {columns} columns, over all of k.\n"
          "extern \"C\" __global__ void __launch_bounds__({threads}, 1) {name}(\n"
          "    const __grid_constant__ TensorMap x_map, const __grid_constant__ TensorMap w0_map,\n"
          "    const __grid_constant__ TensorMap w1_map, const __grid_constant__ TensorMap "
          "out_map,\n"
          "    const Operands operands, const int m, const int n, const int k) {{\n"
          "  {run}<{type}, Tile<{rows}, {half}, {stages}, {strip}, {gemms}>, {epilogue}>(\n"
          "      x_map, w0_map, w1_map, out_map, operands, m, n, k);\n"
          "}}\n",
          fmt::arg("run", tile.rows == 128 ? "run_tiles" : "run_tall_tiles"),
          fmt::arg("operators", operators_of(code)), fmt::arg("columns", tile.columns(code)),
          fmt::arg("rows", tile.rows), fmt::arg("threads", kTileThreads), fmt::arg("name", name),
          fmt::arg("type", cuda_type(code.dtype)), fmt::arg("half", tile.half),
          fmt::arg("stages", tile.stages(code)), fmt::arg("strip", tile.strip(code)),
          fmt::arg("gemms", code.gemms), fmt::arg("epilogue", epilogue_name(name))));
}

}  // namespace epi::compiler
