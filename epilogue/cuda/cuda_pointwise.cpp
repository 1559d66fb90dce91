// SPDX-License-Identifier: Apache-2.0
// Pointwise operators: the operands as numbers, the cost told, the launcher called.
#include "epilogue/cuda/cuda_kernels.h"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/operands.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/ops/hooks.h"

namespace epi::cuda {
namespace {

using UnaryLauncher = void (*)(DType, const StridedShape&, cudaStream_t);
using BinaryLauncher = void (*)(DType, const StridedShape&, Scalars, cudaStream_t);

void run_unary(std::string_view op, UnaryLauncher launch, Args args, const Tensor& out) {
  const Tensor& x = args.tensor(0);
  const auto cost = [&]() -> LaunchCost {
    return {stored_bytes(x) + out.size_bytes(), out.numel()};
  };
  run_launch(cost, [&] {
    launch(x.dtype(), strided_shape({&out, &x}), current_stream(out.device().index).get());
  });
  check_launch(op);
}

void run_binary(std::string_view op, BinaryLauncher launch, double alpha, Args args,
                const Tensor& out) {
  const Tensor& a = args.tensor(0);
  const bool scalar = !args[1].is_tensor();
  const Scalars scalars{alpha, scalar ? args[1].number() : 0};
  run_launch(
      [&] {
        const int64_t inputs = stored_bytes(a) + (scalar ? 0 : stored_bytes(args.tensor(1)));
        // With an alpha there is a multiplication too.
        return LaunchCost{inputs + out.size_bytes(), (alpha == 1 ? 1 : 2) * out.numel()};
      },
      [&] {
        const StridedShape shape =
            scalar ? strided_shape({&out, &a}) : strided_shape({&out, &a, &args.tensor(1)});
        launch(a.dtype(), shape, scalars, current_stream(out.device().index).get());
      });
  check_launch(op);
}

}  // namespace

void add(Args args, const Tensor& out) {
  run_binary("add", launch_add, args[2].number(), args, out);
}
void sub(Args args, const Tensor& out) {
  run_binary("sub", launch_sub, args[2].number(), args, out);
}
void mul(Args args, const Tensor& out) { run_binary("mul", launch_mul, 1, args, out); }
void div(Args args, const Tensor& out) { run_binary("div", launch_div, 1, args, out); }

void exp(Args args, const Tensor& out) { run_unary("exp", launch_exp, args, out); }
void gelu(Args args, const Tensor& out) {
  run_unary("gelu", args[1].text() == "tanh" ? launch_gelu_tanh : launch_gelu, args, out);
}
void neg(Args args, const Tensor& out) { run_unary("neg", launch_neg, args, out); }
void relu(Args args, const Tensor& out) { run_unary("relu", launch_relu, args, out); }
void sigmoid(Args args, const Tensor& out) { run_unary("sigmoid", launch_sigmoid, args, out); }
void silu(Args args, const Tensor& out) { run_unary("silu", launch_silu, args, out); }
void tanh(Args args, const Tensor& out) { run_unary("tanh", launch_tanh, args, out); }

}  // namespace epi::cuda
