// SPDX-License-Identifier: Apache-2.0
#include "epilogue/ops/pointwise_call.h"

namespace epi {
namespace {

// The text argument, or an empty string.
std::string_view text_in(Args args) {
  for (const Arg& arg : args) {
    if (arg.kind() == Arg::Kind::kString) return arg.text();
  }
  return "";
}

pointwise::Function function_of(Op op, Args args) {
  const auto function = pointwise_function(op, text_in(args));
  EPI_CHECK(function.has_value());
  return *function;
}

}  // namespace

std::optional<pointwise::Function> pointwise_function(Op op, std::string_view text) {
  std::optional<pointwise::Function> function;
  switch (op) {
#define EPI_POINTWISE(Name, ...)             \
  case Op::k##Name:                          \
    function = pointwise::Function::k##Name; \
    break;
#include "epilogue/pointwise/operators.def"
    default:
      return std::nullopt;
  }
  if (text.empty()) return function;
  for (size_t i = 0; i < pointwise::kFunctionCount; ++i) {
    const pointwise::FunctionInfo& info = pointwise::kFunctions[i];
    if (info.op == pointwise::info(*function).op && info.variant == text) {
      return static_cast<pointwise::Function>(i);
    }
  }
  return function;
}

PointwiseCall::PointwiseCall(Op op, Args args) : function(function_of(op, args)) {
  const auto inputs = static_cast<size_t>(info().inputs);
  if (inputs == 2 && args[1].is_tensor()) b = &args.tensor(1);
  if (inputs == 2 && !args[1].is_tensor()) other = args[1].number();
  for (size_t i = 0; i < info().scalar_count; ++i) {
    const Arg& arg = args[inputs + i];
    scalars[i] = arg.is_none() ? info().scalars[i].default_value : arg.number();
  }
}

int64_t PointwiseCall::flops() const {
  int64_t flops = 1;
  for (size_t i = 0; i < info().scalar_count; ++i) {
    if (info().scalars[i].is_factor && scalars[i] != 1) ++flops;
  }
  return flops;
}

}  // namespace epi
