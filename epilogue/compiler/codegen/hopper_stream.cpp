// SPDX-License-Identifier: Apache-2.0
// The stream form (device/stream.cuh): its sizes, and the kernel that instantiates it with an
// epilogue.
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/compiler/codegen/hopper_parts.h"

namespace epi::compiler {
namespace {

int64_t stage_bytes(const GemmCode& code, const HopperStream& stream) {
  return stream.slabs * 128 * (code.gemms * stream.rows + stream.tokens) + 16;
}
int64_t sums_bytes(const HopperStream& stream) {
  return std::max<int64_t>(64 * (stream.tokens + 2) * 4, 8192);
}

}  // namespace

int HopperStream::stages(const GemmCode& code) const {
  return static_cast<int>((kMaxSharedBytes - sums_bytes(*this)) / stage_bytes(code, *this));
}

int64_t HopperStream::shared_bytes(const GemmCode& code) const {
  return stages(code) * stage_bytes(code, *this) + sums_bytes(*this);
}

std::string emit_hopper_stream(const std::string& name, const GemmCode& code,
                               const HopperStream& stream) {
  return in_device_namespace(
      epilogue_struct(name, code) +
      fmt::format(
          "\n// {operators}: up to {tokens} rows of x; tiles of {rows} weight rows stream.\n"
          "extern \"C\" __global__ void __launch_bounds__({threads}, 1) {name}(\n"
          "    const __grid_constant__ TensorMap x_map, const __grid_constant__ TensorMap w0_map,\n"
          "    const __grid_constant__ TensorMap w1_map, {type}* out, const Operands operands,\n"
          "    const int m, const int n, const int k) {{\n"
          "  run_stream<{type}, Stream<{rows}, {tokens}, {slabs}, {stages}, {sums}, {gemms}>,\n"
          "             {epilogue}>(x_map, w0_map, w1_map, out, operands, m, n, k);\n"
          "}}\n",
          fmt::arg("operators", operators_of(code)), fmt::arg("threads", kStreamThreads),
          fmt::arg("name", name), fmt::arg("type", cuda_type(code.dtype)),
          fmt::arg("rows", stream.rows), fmt::arg("tokens", stream.tokens),
          fmt::arg("slabs", stream.slabs), fmt::arg("stages", stream.stages(code)),
          fmt::arg("sums", sums_bytes(stream)), fmt::arg("gemms", code.gemms),
          fmt::arg("epilogue", epilogue_name(name))));
}

}  // namespace epi::compiler
