// SPDX-License-Identifier: Apache-2.0
// The arithmetic of one fused group: a straight-line sequence of pointwise operators on f32 values.
// The enclosing kernel provides the inputs and consumes the outputs.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "epilogue/compiler/codegen/vector_code.h"
#include "epilogue/pointwise/table.h"

namespace epi::compiler {

// A value of the program, or a constant if `value` is negative.
struct Term {
  int value = -1;
  double number = 0;
};

struct Step {
  std::optional<pointwise::Function> function{};  // nullopt: a conversion
  std::vector<Term> terms{};                      // inputs, then scalars
  std::optional<DType> rounded_to{};              // for a conversion that affects the result
};

// Values are numbered: the inputs first, then the results of the steps.
struct Program {
  int inputs = 0;
  std::vector<Step> steps;
  std::vector<int> outputs;
};

// "gelu, mul": for comments. Empty if there are no steps.
std::string operators_of(const Program& program);

// Emits the program for these inputs and returns its outputs.
std::vector<IrValue> emit(const Program& program, std::span<const IrValue> inputs,
                          VectorCode& code);

}  // namespace epi::compiler
