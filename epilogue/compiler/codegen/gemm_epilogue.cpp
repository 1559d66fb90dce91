// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_epilogue.h"

namespace epi::compiler {
namespace {

// A mask of the columns below n.
IrValue emit_mask(IrWriter& out, const GemmCode& code, int lanes, const IrValue& column) {
  const IrValue left = out.let("sub i64 {}, {}", code.n, column);
  return out.let("call <{0} x i1> @llvm.get.active.lane.mask.v{0}i1.i64(i64 0, i64 {1})", lanes,
                 out.let("call i64 @llvm.smax.i64(i64 {}, i64 0)", left));
}

IrValue emit_address(IrWriter& out, size_t other, const GemmOperand& operand, const IrValue& row,
                     const IrValue& column) {
  const IrValue down = out.let("mul i64 {}, {}", row, operand.row_stride);
  const IrValue across = out.let("mul i64 {}, {}", column, operand.column_stride);
  return out.let("getelementptr {}, ptr %other{}, i64 {}", VectorCode::stored_type(operand.dtype),
                 other, out.let("add i64 {}, {}", down, across));
}

IrValue emit_load(VectorCode& vector, const GemmOperand& operand, const IrValue& address,
                  const IrValue& mask) {
  if (operand.column_stride == 0) return vector.load_splat(operand.dtype, address);
  return mask.empty() ? vector.load(operand.dtype, address)
                      : vector.load_masked(operand.dtype, address, mask);
}

}  // namespace

void emit_addresses(IrWriter& out, const GemmCode& code) {
  for (size_t i = 0; i < code.outputs.size() + code.operands.size(); ++i) {
    out.line("%other{}.at = getelementptr ptr, ptr %args, i64 {}", i, kFirstOther + i);
    out.line("%other{0} = load ptr, ptr %other{0}.at, align 8", i);
  }
}

void emit_epilogue(IrWriter& out, const GemmCode& code, const Target& target,
                   std::span<const IrValue> sums, const IrValue& row, const IrValue& column,
                   bool may_pass_end) {
  VectorCode vector(out, target, target.lanes);
  const IrValue mask = may_pass_end ? emit_mask(out, code, target.lanes, column) : IrValue();
  std::vector<IrValue> inputs(sums.begin(), sums.end());
  for (size_t i = 0; i < code.operands.size(); ++i) {
    const GemmOperand& operand = code.operands[i];
    const IrValue address = emit_address(out, code.outputs.size() + i, operand, row, column);
    inputs.push_back(emit_load(vector, operand, address, mask));
  }
  const auto results = emit(code.program, inputs, vector);
  for (size_t i = 0; i < results.size(); ++i) {
    const IrValue address = emit_address(out, i, {code.outputs[i], code.n, 1}, row, column);
    if (mask.empty()) {
      vector.store(code.outputs[i], results[i], address);
    } else {
      vector.store_masked(code.outputs[i], results[i], address, mask);
    }
  }
}

}  // namespace epi::compiler
