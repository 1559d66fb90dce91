// SPDX-License-Identifier: Apache-2.0
#include "epilogue/compiler/codegen/program.h"

#include "epilogue/base/join.h"

#include "epilogue/compiler/codegen/ir_number.h"

namespace epi::compiler {
namespace {

IrValue emit_step(const Step& step, std::span<const IrValue> values, VectorCode& code) {
  std::vector<IrNumber> terms;
  for (const Term& term : step.terms) {
    terms.push_back(term.value < 0 ? IrNumber(term.number)
                                   : IrNumber(code, values[static_cast<size_t>(term.value)]));
  }
  if (step.function) return emit_function(*step.function, terms).text(code);
  const IrValue value = terms[0].text(code);
  return step.rounded_to ? code.rounded(*step.rounded_to, value) : value;
}

}  // namespace

std::vector<IrValue> emit(const Program& program, std::span<const IrValue> inputs,
                          VectorCode& code) {
  std::vector<IrValue> values(inputs.begin(), inputs.end());
  for (const Step& step : program.steps) values.push_back(emit_step(step, values, code));
  std::vector<IrValue> outputs;
  for (const int output : program.outputs) outputs.push_back(values[static_cast<size_t>(output)]);
  return outputs;
}

std::string operators_of(const Program& program) {
  std::vector<std::string> names;
  for (const Step& step : program.steps) {
    names.emplace_back(step.function ? pointwise::info(*step.function).name : "to");
  }
  return join(names, ", ");
}

}  // namespace epi::compiler
