// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/hopper_parts.h"

#include <fmt/format.h>

#include <algorithm>

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

// Whether an absolute error of the activations that is small against rounding to bf16 stays so:
// sums and products keep it small, and other functions, such as log, may not.
bool allows_fast_activations(const GemmCode& code) {
  using pointwise::Function;
  const auto keeps_error = [](const Step& step) {
    return !step.function || *step.function == Function::kAdd || *step.function == Function::kSub ||
           *step.function == Function::kMul || *step.function == Function::kSilu ||
           *step.function == Function::kGeluTanh;
  };
  return !code.exact && code.outputs[0] == DType::kBF16 &&
         std::all_of(code.program.steps.begin(), code.program.steps.end(), keeps_error);
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
  std::string out = fmt::format("struct {}{} {{\n", epilogue_name(name),
                                allows_fast_activations(code) ? " : FastActivations" : "");
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
  return std::string(kGemmDeviceText) + kTilesDeviceText + kStreamDeviceText + kMmaDeviceText +
         kDecodeDeviceText + kMlpDeviceText;
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
  return std::string("#define EPI_ONLY_N 0\n") + kGemmDeviceText + kMmaDeviceText +
         kDecodeDeviceText;
}

std::string hopper_prelude(const HopperMlp& /*mlp*/) {
  return std::string("#define EPI_ONLY_N 0\n") + kGemmDeviceText + kMmaDeviceText + kMlpDeviceText;
}

}  // namespace epi::compiler
