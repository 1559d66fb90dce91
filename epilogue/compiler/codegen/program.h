// SPDX-License-Identifier: Apache-2.0
// The arithmetic of one fused group: a straight line of pointwise operators on f32 values. Where
// values come from and go to is the business of the kernel around it.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "epilogue/compiler/codegen/vector_code.h"
#include "epilogue/pointwise/table.h"

namespace epi::compiler {

// A value of the program, or a number where `value` is negative.
struct Term {
  int value = -1;
  double number = 0;
};

struct Step {
  std::optional<pointwise::Function> function{};  // none: a conversion
  std::vector<Term> terms{};                      // its inputs, then its scalars
  std::optional<DType> rounded_to{};              // of a conversion that must show in the result
};

// Values are numbered: the inputs first, then the results of the steps.
struct Program {
  int inputs = 0;
  std::vector<Step> steps;
  std::vector<int> outputs;
};

// Writes the program for these inputs; returns its outputs.
std::vector<IrValue> emit(const Program& program, std::span<const IrValue> inputs,
                          VectorCode& code);

}  // namespace epi::compiler
