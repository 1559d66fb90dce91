// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/program.h"

#include "epilogue/base/error.h"

namespace epi::compiler {
namespace {

IrValue emit_sum(const Step& step, const IrValue& a, const IrValue& b, VectorCode& code) {
  const double alpha = step.terms[2].number;
  const bool subtract = step.op == Op::kSub;
  if (alpha == 1) return subtract ? code.sub(a, b) : code.add(a, b);
  return code.multiply_add(b, code.number(subtract ? -alpha : alpha), a);
}

IrValue emit_step(const Step& step, std::span<const IrValue> terms, VectorCode& code) {
  switch (step.op) {
    case Op::kAdd:
    case Op::kSub:
      return emit_sum(step, terms[0], terms[1], code);
    case Op::kMul:
      return code.mul(terms[0], terms[1]);
    case Op::kDiv:
      return code.div(terms[0], terms[1]);
    case Op::kNeg:
      return code.neg(terms[0]);
    case Op::kRelu:
      return code.relu(terms[0]);
    case Op::kExp:
      return code.exp(terms[0]);
    case Op::kTanh:
      return code.tanh(terms[0]);
    case Op::kSigmoid:
      return code.sigmoid(terms[0]);
    case Op::kSilu:
      return code.silu(terms[0]);
    case Op::kGelu:
      return step.by_tanh ? code.gelu_tanh(terms[0]) : code.gelu(terms[0]);
    case Op::kCopy_:
      return step.rounded_to ? code.rounded(*step.rounded_to, terms[0]) : terms[0];
    default:
      throw BugError(fmt::format("{} is not pointwise", op_info(step.op).name));
  }
}

}  // namespace

std::vector<IrValue> emit(const Program& program, std::span<const IrValue> inputs,
                          VectorCode& code) {
  std::vector<IrValue> values(inputs.begin(), inputs.end());
  for (const Step& step : program.steps) {
    std::vector<IrValue> terms;
    for (const Term& term : step.terms) {
      terms.push_back(term.value < 0 ? code.number(term.number)
                                     : values[static_cast<size_t>(term.value)]);
    }
    values.push_back(emit_step(step, terms, code));
  }
  std::vector<IrValue> outputs;
  for (const int output : program.outputs) outputs.push_back(values[static_cast<size_t>(output)]);
  return outputs;
}

}  // namespace epi::compiler
