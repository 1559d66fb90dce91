// SPDX-License-Identifier: Apache-2.0
// A call of a pointwise operator as backends see it: which function of pointwise/functions.h, its
// second operand where that is a number, and its scalars.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "epilogue/ops/args.h"
#include "epilogue/ops/op.h"
#include "epilogue/pointwise/table.h"

namespace epi {

// The function of an operator; none where it is not pointwise. `text` is its text argument: "tanh".
std::optional<pointwise::Function> pointwise_function(Op op, std::string_view text = "");

struct PointwiseCall {
  PointwiseCall(Op op, Args args);

  const pointwise::FunctionInfo& info() const { return pointwise::info(function); }
  // Floating-point operations for each element: one, and one for each factor that is not 1.
  int64_t flops() const;

  pointwise::Function function;
  const Tensor* b = nullptr;  // the second tensor; null where there is none
  double other = 0;           // the number in its place
  std::array<double, pointwise::kMaxScalars> scalars{};
};

}  // namespace epi
