// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/gemm_epilogue.h"

#include <algorithm>

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

// Vectors that one iteration of a long epilogue works on: enough to hide the latency of each.
constexpr int kVectorsAtOnce = 6;

int rows_per_iteration(const SumsBuffer& sums, int lanes) {
  if (sums.rows != fmt::format("{}", sums.height)) return 1;  // there may be fewer
  int rows = std::max(kVectorsAtOnce * lanes / sums.columns, 1);
  while (sums.height % rows != 0) --rows;
  return rows;
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

void emit_prefetch_results(IrWriter& out, const GemmCode& code, const IrValue& row,
                           const IrValue& column, int columns) {
  for (size_t i = 0; i < code.outputs.size(); ++i) {
    const IrValue address = emit_address(out, i, {code.outputs[i], code.n, 1}, row, column);
    out.prefetch_to_write(address, columns * size_bytes(code.outputs[i]));
  }
}

bool has_long_epilogue(const GemmCode& code) {
  return std::any_of(code.program.steps.begin(), code.program.steps.end(), [](const Step& step) {
    return step.function && pointwise::relative_cpu_cost(*step.function) > 1;
  });
}

void emit_epilogue_loop(IrWriter& out, const GemmCode& code, const Target& target,
                        const SumsBuffer& sums, std::string_view previous) {
  const bool may_pass_end = code.n % sums.columns != 0;
  const int rows_at_once = rows_per_iteration(sums, target.lanes);
  VectorCode vector(out, target, target.lanes);
  if (target.is_arm()) out.hoist_constants();
  out.line("br label %each");
  out.label("each");
  out.line("%done.rows = phi i64 [ 0, %{} ], [ %done.next, %each ]", previous);
  for (int i = 0; i < rows_at_once; ++i) {
    const IrValue row = out.let("add i64 %done.rows, {}", i);
    const IrValue at_row = out.let("add i64 %row, {}", row);
    const IrValue line = out.let("mul i64 {}, {}", row, sums.columns * code.gemms);
    for (int column = 0; column < sums.columns; column += target.lanes) {
      std::vector<IrValue> values;
      for (int gemm = 0; gemm < code.gemms; ++gemm) {
        const IrValue place = out.let("add i64 {}, {}", line, gemm * sums.columns + column);
        values.push_back(vector.load(
            DType::kF32, out.let("getelementptr float, ptr {}, i64 {}", sums.address, place)));
      }
      const IrValue at_column = out.let("add i64 %column, {}", column);
      emit_epilogue(out, code, target, values, at_row, at_column, may_pass_end);
    }
  }
  out.line("%done.next = add i64 %done.rows, {}", rows_at_once);
  out.line("%rows.left = icmp slt i64 %done.next, {}", sums.rows);
  out.line("br i1 %rows.left, label %each, label %end");
  out.label("end");
}

void emit_tile_start(IrWriter& out, const GemmCode& code, const GemmTile& tile, int rows) {
  emit_addresses(out, code);
  if (has_long_epilogue(code)) {
    out.line("%tile = alloca [{} x float], align 64", rows * tile.columns * code.gemms);
  }
}

void emit_tile_end(IrWriter& out, const GemmCode& code, const Target& target, const GemmTile& tile,
                   int rows, const EmitSums& sums) {
  const int each = tile.columns / target.lanes;  // vectors of a GEMM
  const int vectors = each * code.gemms;
  if (has_long_epilogue(code)) {
    VectorCode vector(out, target, target.lanes);
    for (int row = 0; row < rows; ++row) {
      for (int v = 0; v < vectors; ++v) {
        const int place = (row * vectors + v) * target.lanes;
        vector.store(DType::kF32, sums(row, v),
                     out.let("getelementptr float, ptr %tile, i64 {}", place));
      }
    }
    emit_epilogue_loop(out, code, target, {"%tile", rows, tile.columns, fmt::format("{}", rows)},
                       "finish");
    return;
  }
  for (int row = 0; row < rows; ++row) {
    const IrValue at_row = out.let("add i64 %row, {}", row);
    for (int v = 0; v < each; ++v) {
      std::vector<IrValue> values;
      for (int gemm = 0; gemm < code.gemms; ++gemm) values.push_back(sums(row, gemm * each + v));
      const IrValue at_column = out.let("add i64 %column, {}", v * target.lanes);
      emit_epilogue(out, code, target, values, at_row, at_column, code.n % tile.columns != 0);
    }
  }
}

}  // namespace epi::compiler
