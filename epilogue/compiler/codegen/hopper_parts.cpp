// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/hopper_parts.h"

#include <fmt/format.h>

#include "epilogue/compiler/codegen/cuda_code.h"
#include "epilogue/compiler/codegen/device_text.h"
#include "epilogue/compiler/codegen/hopper_code.h"

namespace epi::compiler {

namespace {

std::string signature(const char* name, const char* type, const GemmCode& code) {
  return fmt::format(
      "  static __device__ __forceinline__ {0} {1}(const Operands& operands, int row, int column,\n"
      "                                            int m, int n, {0} v0{2}) {{\n",
      type, name, code.gemms == 2 ? fmt::format(", {} v1", type) : "");
}

// Reads the operands with `read`, evaluates the program, and returns its result.
template <typename Read>
std::string body(const GemmCode& code, const char* type, const Read& read) {
  std::string out;
  for (size_t i = 0; i < code.operands.size(); ++i) {
    out += fmt::format("    const {} v{} = {};\n", type, static_cast<size_t>(code.gemms) + i,
                       read(i, code.operands[i]));
  }
  out += cuda_steps(code.program, "    ", type);
  return out + fmt::format("    return v{};\n  }}\n", code.program.outputs[0]);
}

}  // namespace

std::string epilogue_struct(const std::string& name, const GemmCode& code) {
  const auto read_pair = [](size_t i, const GemmOperand& operand) {
    return fmt::format("read_pair<{}>(operands.data[{}], {}LL * row + {} * column, {})",
                       cuda_type(operand.dtype), i, operand.row_stride, operand.column_stride,
                       operand.column_stride);
  };
  const auto read_one = [](size_t i, const GemmOperand& operand) {
    return fmt::format("read_one<{}>(operands.data[{}], {}LL * row + {} * column)",
                       cuda_type(operand.dtype), i, operand.row_stride, operand.column_stride);
  };
  std::string out = fmt::format("struct {} {{\n", epilogue_name(name));
  if (code.exact) out += signature("one", "float", code) + body(code, "float", read_one);
  out += signature("apply", "Pair", code);
  if (!code.operands.empty()) out += "    if (row >= m || column >= n) return 0.0f;\n";
  if (!code.exact) return out + body(code, "Pair", read_pair) + "};\n";
  const bool glu = code.gemms == 2;
  return out + fmt::format(
                   "    return {{one(operands, row, column, m, n, v0.a{0}),\n"
                   "            one(operands, row, column + 1, m, n, v0.b{1})}};\n  }}\n}};\n",
                   glu ? ", v1.a" : "", glu ? ", v1.b" : "");
}

std::string epilogue_name(const std::string& name) { return name + "_epilogue"; }

std::string hopper_prelude() {
  return std::string(kGemmDeviceText) + kTilesDeviceText + kStreamDeviceText + kDecodeDeviceText;
}

std::string hopper_prelude(const HopperTile& tile) {
  return fmt::format("#define EPI_ONLY_N {}\n{}{}", 2 * tile.half, kGemmDeviceText,
                     kTilesDeviceText);
}

std::string hopper_prelude(const HopperStream& stream) {
  return fmt::format("#define EPI_ONLY_N {}\n{}{}", stream.tokens, kGemmDeviceText,
                     kStreamDeviceText);
}

std::string hopper_prelude(const HopperDecode& /*decode*/) {
  return std::string("#define EPI_ONLY_N 0\n") + kGemmDeviceText + kDecodeDeviceText;
}

}  // namespace epi::compiler
