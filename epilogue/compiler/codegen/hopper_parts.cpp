// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/hopper_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/compiler/codegen/cuda_code.h"

namespace epi::compiler {

std::string filled(std::string_view text,
                   const std::vector<std::pair<std::string, std::string>>& values) {
  std::string out;
  for (size_t at = 0;;) {
    const size_t begin = text.find('@', at);
    out += text.substr(at, begin - at);
    if (begin == std::string_view::npos) return out;
    const size_t end = text.find('@', begin + 1);
    const std::string_view key = text.substr(begin + 1, end - begin - 1);
    const auto found = std::find_if(values.begin(), values.end(),
                                    [&](const auto& value) { return value.first == key; });
    EPI_CHECK(found != values.end());
    out += found->second;
    at = end + 1;
  }
}

namespace {

std::string signature(const std::string& name, const char* type, const GemmCode& code) {
  return fmt::format(
      "\n__device__ __forceinline__ {0} {1}(const Operands& operands, int row, int column, int m,\n"
      "                                     int n, {0} v0{2}) {{\n",
      type, name, code.products == 2 ? fmt::format(", {} v1", type) : "");
}

// Reads the operands with `read`, goes through the program, returns its result.
template <typename Read>
std::string body(const GemmCode& code, const char* type, const Read& read) {
  std::string out;
  for (size_t i = 0; i < code.operands.size(); ++i) {
    out += fmt::format("  const {} v{} = {};\n", type, static_cast<size_t>(code.products) + i,
                       read(i, code.operands[i]));
  }
  out += cuda_steps(code.program, "  ", type);
  return out + fmt::format("  return v{};\n}}\n", code.program.outputs[0]);
}

}  // namespace

std::string element_function(const std::string& name, const GemmCode& code) {
  const auto read_pair = [](size_t i, const GemmOperand& operand) {
    return fmt::format("read_pair<{}>(operands.data[{}], {}LL * row + {} * column, {})",
                       cuda_type(operand.dtype), i, operand.row_stride, operand.column_stride,
                       operand.column_stride);
  };
  const auto read_one = [](size_t i, const GemmOperand& operand) {
    return fmt::format("read_one<{}>(operands.data[{}], {}LL * row + {} * column)",
                       cuda_type(operand.dtype), i, operand.row_stride, operand.column_stride);
  };
  std::string out;
  if (code.exact) out += signature(name + "_one", "float", code) + body(code, "float", read_one);
  out += signature(name + "_element", "Pair", code);
  if (!code.operands.empty()) out += "  if (row >= m || column >= n) return 0.0f;\n";
  if (!code.exact) return out + body(code, "Pair", read_pair);
  const bool glu = code.products == 2;
  return out + fmt::format(
                   "  return {{{0}_one(operands, row, column, m, n, v0.a{1}),\n"
                   "          {0}_one(operands, row, column + 1, m, n, v0.b{2})}};\n}}\n",
                   name, glu ? ", v1.a" : "", glu ? ", v1.b" : "");
}

}  // namespace epi::compiler
