// SPDX-License-Identifier: Apache-2.0
// Pointwise operators: checks and output shapes. The arithmetic is the backends'.
#include "epilogue/ops/checks.h"
#include "epilogue/ops/dispatch.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/results.h"
#include "epilogue/tensor/factories.h"

namespace epi {
namespace {

void check_binary(std::string_view op, const Tensor& x, const Tensor& other) {
  check_numeric(op, x);
  check_same_kind(op, x, other);
  broadcast_shapes(op, x.shape(), other.shape());  // throws where there is none
}

// Integers take whole scalars of their range only: nothing is rounded or wrapped silently.
void check_scalar(std::string_view op, const Tensor& x, double value) {
  check_numeric(op, x);
  if (!holds(x.dtype(), value)) {
    fail(op, "the scalar {} is no whole number of {}, which the tensor holds", value,
         name(x.dtype()));
  }
}

Tensor floating_unary(std::string_view name, Op op, const Tensor& x) {
  check_floating(name, x);
  return dispatch(op, {x});
}

}  // namespace

Tensor add(const Tensor& x, const Tensor& other, double alpha) {
  check_binary("add", x, other);
  check_scalar("add", x, alpha);
  return dispatch(Op::kAdd, {x, other, factor(alpha)});
}

Tensor add(const Tensor& x, double other, double alpha) {
  check_scalar("add", x, other);
  check_scalar("add", x, alpha);
  return dispatch(Op::kAdd, {x, other, factor(alpha)});
}

Tensor sub(const Tensor& x, const Tensor& other, double alpha) {
  check_binary("sub", x, other);
  check_scalar("sub", x, alpha);
  return dispatch(Op::kSub, {x, other, factor(alpha)});
}

Tensor sub(const Tensor& x, double other, double alpha) {
  check_scalar("sub", x, other);
  check_scalar("sub", x, alpha);
  return dispatch(Op::kSub, {x, other, factor(alpha)});
}

Tensor mul(const Tensor& x, const Tensor& other) {
  check_binary("mul", x, other);
  return dispatch(Op::kMul, {x, other});
}

Tensor mul(const Tensor& x, double other) {
  check_scalar("mul", x, other);
  return dispatch(Op::kMul, {x, other});
}

Tensor div(const Tensor& x, const Tensor& other) {
  check_floating("div", x);
  check_binary("div", x, other);
  return dispatch(Op::kDiv, {x, other});
}

Tensor div(const Tensor& x, double other) {
  check_floating("div", x);
  return dispatch(Op::kDiv, {x, other});
}

Tensor neg(const Tensor& x) {
  check_numeric("neg", x);
  return dispatch(Op::kNeg, {x});
}

Tensor relu(const Tensor& x) {
  check_numeric("relu", x);
  return dispatch(Op::kRelu, {x});
}

Tensor exp(const Tensor& x) { return floating_unary("exp", Op::kExp, x); }
Tensor tanh(const Tensor& x) { return floating_unary("tanh", Op::kTanh, x); }
Tensor sigmoid(const Tensor& x) { return floating_unary("sigmoid", Op::kSigmoid, x); }
Tensor silu(const Tensor& x) { return floating_unary("silu", Op::kSilu, x); }

Tensor gelu(const Tensor& x, std::string_view approximate) {
  check_floating("gelu", x);
  if (approximate != "none" && approximate != "tanh") {
    fail("gelu", "approximate is \"none\" or \"tanh\", not \"{}\"", approximate);
  }
  return dispatch(Op::kGelu, {x, approximate});
}

namespace results {

Tensor binary(Args args) {
  const Tensor& x = args.tensor(0);
  const TensorOptions options{x.dtype(), x.device()};
  if (!args[1].is_tensor()) return empty(x.shape(), options);
  return empty(broadcast_shapes("pointwise", x.shape(), args.tensor(1).shape()), options);
}

Tensor like_input(Args args) {
  const Tensor& x = args.tensor(0);
  return empty(x.shape(), {x.dtype(), x.device()});
}

}  // namespace results
}  // namespace epi
