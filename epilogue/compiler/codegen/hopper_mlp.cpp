// SPDX-License-Identifier: Apache-2.0
// The MLP form (device/mlp.cuh): its sizes, when it is used, and the kernel that instantiates it
// with the epilogues of both GEMMs.
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/compiler/codegen/hopper_parts.h"

namespace epi::compiler {
namespace {

// The same sizes as in device/mlp.cuh, which the kernel asserts.
constexpr int kWarps = 8;
constexpr int64_t kMaxColumns = 256;
constexpr int64_t kUnitBytes = 512;  // the sums of a warp for 16 rows and 8 columns

// More clusters may not start at once, even if there are enough SMs: those of a cluster are in
// one GPC. On an H200, 16 clusters take two waves.
constexpr int64_t kMaxClusters = 8;
// The largest weights of a block with which one kernel was faster than two on an H200, measured
// with bench/mlp_forms.
struct MaxWeights {
  int row_groups;
  int64_t bytes;
};
constexpr MaxWeights kMaxWeights[] = {
    {1, kMaxSharedBytes}, {2, 64 << 10}, {4, 48 << 10}, {8, 16 << 10}};
// The same for up to kMaxStreamRows rows, whose forms of single GEMMs are faster.
constexpr int64_t kMaxStreamWeights = 20 << 10;

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
int64_t in_tiles(int64_t size) { return 16 * ceil_div(size, 16); }
int64_t pitch(int64_t columns) { return 2 * columns + 16; }
// The hidden columns of a block, in tiles of 16.
int64_t hidden_tiles(const GemmCode& first) { return ceil_div(ceil_div(first.n, 16), kMlpBlocks); }

}  // namespace

int64_t HopperMlp::blocks(int64_t rows) const {
  return kMlpBlocks * ceil_div(rows, int64_t{16} * row_groups);
}

int64_t HopperMlp::shared_bytes(const GemmCode& first, const GemmCode& second) const {
  const int64_t tiles = hidden_tiles(first);
  const int64_t columns = 16 * tiles;
  const int64_t rows = 16 * row_groups + first.gemms * columns;
  const int64_t units = ceil_div(second.n / 8 * row_groups, kMlpBlocks);
  const int64_t parts = kMlpBlocks * std::min<int64_t>(kWarps / row_groups, tiles);
  return rows * pitch(in_tiles(first.k)) + in_tiles(second.n) * pitch(columns) +
         units * parts * kUnitBytes;
}

std::optional<HopperMlp> choose_mlp(const GemmCode& first, const GemmCode& second, int64_t rows,
                                    int processors) {
  if (second.gemms != 1 || second.k != first.n || second.n > kMaxColumns) return std::nullopt;
  if (first.outputs != std::vector{second.dtype} || first.dtype != second.dtype) {
    return std::nullopt;
  }
  const int64_t weights = 2 * 16 * hidden_tiles(first) * (first.gemms * first.k + second.n);
  if (rows <= kMaxStreamRows && weights > kMaxStreamWeights) return std::nullopt;
  const int64_t max_blocks = std::min<int64_t>(kMaxClusters * kMlpBlocks, processors);
  for (const auto& [row_groups, max_weights] : kMaxWeights) {
    const HopperMlp mlp{row_groups};
    if (mlp.blocks(rows) > max_blocks) continue;
    const bool fits = mlp.shared_bytes(first, second) <= kMaxSharedBytes;
    return fits && weights <= max_weights ? std::optional(mlp) : std::nullopt;
  }
  return std::nullopt;
}

std::string emit_hopper_mlp(const std::string& name, const GemmCode& first,
                            const GemmCode& second) {
  const std::string down = name + "_down";
  return in_device_namespace(
      epilogue_struct(name, first) + epilogue_struct(down, second) +
      fmt::format(
          "\n// {operators}, {second}: both GEMMs of a small MLP, with all weights in a cluster.\n"
          "extern \"C\" __global__ void __launch_bounds__({threads}, 1) {name}(\n"
          "    const {type}* x, const long long x_stride, const {type}* w0, const {type}* w1,\n"
          "    const {type}* down, {type}* y, const Operands operands,\n"
          "    const Operands down_operands, const MlpSizes sizes) {{\n"
          "  static_assert(Mlp::kThreads == {threads} && Mlp::kBlocks == {blocks} && "
          "Mlp::kMaxColumns == {columns});\n"
          "  run_mlp<{type}, {gemms}, {epilogue}, {down_epilogue}>(\n"
          "      x, x_stride, w0, w1, down, y, operands, down_operands, sizes);\n"
          "}}\n",
          fmt::arg("operators", operators_of(first)), fmt::arg("second", operators_of(second)),
          fmt::arg("threads", kMlpThreads), fmt::arg("name", name),
          fmt::arg("type", cuda_type(first.dtype)), fmt::arg("blocks", kMlpBlocks),
          fmt::arg("columns", kMaxColumns), fmt::arg("gemms", first.gemms),
          fmt::arg("epilogue", epilogue_name(name)),
          fmt::arg("down_epilogue", epilogue_name(down))));
}

}  // namespace epi::compiler
