// SPDX-License-Identifier: Apache-2.0
// The decode form (device/decode.cuh): its sizes, and the kernel that instantiates it with an
// epilogue.
#include <fmt/format.h>

#include <algorithm>

#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/codegen/hopper_code.h"
#include "epilogue/compiler/codegen/hopper_parts.h"

namespace epi::compiler {
namespace {

// The same sizes as in device/decode.cuh, which the kernel asserts.
constexpr int kColumns = 16;
constexpr int kWarps = 8;
constexpr int64_t kBarriers = 16;  // bytes per stage

int64_t pitch(const GemmCode& code) {
  const int64_t chunk = kWarps * (4 / code.gemms) * 32;
  return 2 * chunk + 64;
}

int64_t stage_bytes(const GemmCode& code, int64_t rows) {
  return (code.gemms * kColumns + rows) * pitch(code);
}

int64_t sums_bytes(const GemmCode& code) {
  return 4 * kWarps * kMaxDecodeRows * (code.gemms * kColumns + 4);
}

}  // namespace

int HopperDecode::stages(const GemmCode& code, int64_t rows) const {
  return static_cast<int>((kMaxSharedBytes - sums_bytes(code)) /
                          (stage_bytes(code, rows) + kBarriers));
}

int64_t HopperDecode::shared_bytes(const GemmCode& code, int64_t rows) const {
  return stages(code, rows) * (stage_bytes(code, rows) + kBarriers) + sums_bytes(code);
}

int64_t HopperDecode::blocks(const GemmCode& code, int processors) const {
  return std::min<int64_t>(processors, std::max<int64_t>(1, code.n / 2));
}

std::string emit_hopper_decode(const std::string& name, const GemmCode& code,
                               const HopperDecode& /*decode*/) {
  return in_device_namespace(
      epilogue_struct(name, code) +
      fmt::format(
          "\n// {operators}: up to {tokens} rows of x; weight rows stream in long pieces.\n"
          "extern \"C\" __global__ void __launch_bounds__({threads}, 1) {name}(\n"
          "    const {type}* x, const long long x_stride, const {type}* w0, const {type}* w1,\n"
          "    {type}* out, const Operands operands, const int m, const int n, const int k,\n"
          "    const int stages, const int early) {{\n"
          "  using Form = Decode<{gemms}>;\n"
          "  static_assert(Form::kRows == {rows} && Form::kPitch == {pitch} && "
          "Form::kSumBytes == {sums});\n"
          "  run_decode<{type}, Form, {epilogue}>(\n"
          "      x, x_stride, w0, w1, out, operands, m, n, k, stages, early);\n"
          "}}\n",
          fmt::arg("operators", operators_of(code)), fmt::arg("tokens", kMaxDecodeRows),
          fmt::arg("threads", kDecodeThreads), fmt::arg("name", name),
          fmt::arg("type", cuda_type(code.dtype)), fmt::arg("gemms", code.gemms),
          fmt::arg("rows", code.gemms * kColumns), fmt::arg("pitch", pitch(code)),
          fmt::arg("sums", sums_bytes(code)), fmt::arg("epilogue", epilogue_name(name))));
}

}  // namespace epi::compiler
