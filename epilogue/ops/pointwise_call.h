// SPDX-License-Identifier: Apache-2.0
// A pointwise call as backends see it: the function of pointwise/functions.h, the second operand if
// it is a number, and the scalars.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "epilogue/ops/args.h"
#include "epilogue/ops/op.h"
#include "epilogue/pointwise/table.h"

namespace epi {

// The function of an operator, or nullopt if it is not pointwise. `text` is its text argument:
// "tanh".
std::optional<pointwise::Function> pointwise_function(Op op, std::string_view text = "");

struct PointwiseCall {
  PointwiseCall(Op op, Args args);

  const pointwise::FunctionInfo& info() const { return pointwise::info(function); }
  // FLOPs per element: one, plus one for each factor that is not 1.
  int64_t flops() const;

  pointwise::Function function;
  const Tensor* b = nullptr;  // the second tensor, or null
  double other = 0;           // the number that replaces it
  std::array<double, pointwise::kMaxScalars> scalars{};
};

}  // namespace epi
