// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compile/codegen/hopper_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "epilogue/base/error.h"
#include "epilogue/compile/codegen/cuda_code.h"

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

std::string element_function(const std::string& name, const GemmCode& code) {
  std::string out = fmt::format(
      "\n__device__ __forceinline__ Pair {}_element(const Operands& operands, int row, int "
      "column,\n"
      "                                           int m, int n, Pair v0{}) {{\n",
      name, code.products == 2 ? ", Pair v1" : "");
  if (!code.operands.empty()) out += "  if (row >= m || column >= n) return 0.0f;\n";
  for (size_t i = 0; i < code.operands.size(); ++i) {
    const GemmOperand& operand = code.operands[i];
    out += fmt::format(
        "  const Pair v{} = read_pair<{}>(operands.data[{}], {}LL * row + {} * column, {});\n",
        static_cast<size_t>(code.products) + i, cuda_type(operand.dtype), i, operand.row_stride,
        operand.column_stride, operand.column_stride);
  }
  out += cuda_steps(code.program, "  ", "Pair");
  return out + fmt::format("  return v{};\n}}\n", code.program.outputs[0]);
}

}  // namespace epi::compiler
