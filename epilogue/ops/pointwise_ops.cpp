// SPDX-License-Identifier: Apache-2.0
// Pointwise operators: checks and output shapes, driven by the table of pointwise/. The arithmetic
// is in pointwise/functions.h.
#include <algorithm>

#include "epilogue/ops/checks.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/pointwise_call.h"
#include "epilogue/ops/results.h"
#include "epilogue/tensor/factories.h"

namespace epi {
namespace {

// Integer tensors accept only whole scalars within range: nothing is silently rounded or wrapped.
void check_scalar(std::string_view op, const Tensor& x, const Arg& arg) {
  if (arg.is_none() || can_represent(x.dtype(), arg.number())) return;
  fail(op, "the scalar {} is not representable in {}, the dtype of the tensor", arg.number(),
       name(x.dtype()));
}

// At least one optional scalar must be given: a clamp without bounds is an error.
void check_presence(const pointwise::FunctionInfo& info, Args args) {
  const auto absent =
      std::count_if(args.begin(), args.end(), [](const Arg& arg) { return arg.is_none(); });
  if (absent == 0 || static_cast<size_t>(absent) < info.scalar_count) return;
  fail(info.op, "at least one of {} and {} must be given", info.scalars[0].name,
       info.scalars[1].name);
}

}  // namespace

Tensor pointwise_op(Op op, std::initializer_list<Arg> list) {
  const Args args(std::span(list.begin(), list.size()));
  const pointwise::FunctionInfo& info = pointwise::info(*pointwise_function(op));
  if (args[0].is_none() || (info.inputs == 2 && args[1].is_none()))
    check_defined(info.op, Tensor());
  const Tensor& x = args.tensor(0);
  info.types == pointwise::Types::kFloats ? check_floating(info.op, x) : check_numeric(info.op, x);
  for (size_t i = 1; i < args.size(); ++i) {
    if (args[i].is_tensor()) {
      check_same_kind(info.op, x, args.tensor(i));
      broadcast_shapes(info.op, x.shape(), args.tensor(i).shape());  // throws if incompatible
    } else if (args[i].kind() != Arg::Kind::kString) {
      check_scalar(info.op, x, args[i]);
    }
  }
  check_presence(info, args);
  return dispatch(op, list);
}

Tensor gelu(const Tensor& x, std::string_view approximate) {
  if (approximate != "none" && approximate != "tanh") {
    fail("gelu", "approximate must be \"none\" or \"tanh\", not \"{}\"", approximate);
  }
  return pointwise_op(Op::kGelu, {x, approximate});
}

namespace results {

Tensor pointwise(Args args) {
  if (args.size() < 2 || !args[1].is_tensor()) return like_input(args);
  const Tensor& x = args.tensor(0);
  return empty(broadcast_shapes("pointwise", x.shape(), args.tensor(1).shape()),
               {x.dtype(), x.device()});
}

Tensor like_input(Args args) {
  const Tensor& x = args.tensor(0);
  return empty(x.shape(), {x.dtype(), x.device()});
}

}  // namespace results
}  // namespace epi
