// SPDX-License-Identifier: Apache-2.0
// Pointwise operators: converts operands to a StridedShape, records the cost and calls the
// launcher.
#include "epilogue/cuda/cuda_kernels.h"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/operands.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/ops/hooks.h"
#include "epilogue/ops/pointwise_call.h"

namespace epi::cuda {
namespace {

PointwiseLauncher launcher_of(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return launch_f64;
    case DType::kBF16:
      return launch_bf16;
    case DType::kF16:
      return launch_f16;
    case DType::kI64:
      return launch_i64;
    case DType::kI32:
      return launch_i32;
    default:
      return launch_f32;
  }
}

}  // namespace

void run_pointwise(Op op, Args args, const Tensor& out) {
  const PointwiseCall call(op, args);
  const Tensor& x = args.tensor(0);
  const auto cost = [&]() -> LaunchCost {
    const int64_t inputs = stored_bytes(x) + (call.b != nullptr ? stored_bytes(*call.b) : 0);
    return {inputs + out.size_bytes(), call.flops() * out.numel()};
  };
  run_launch(cost, [&] {
    const StridedShape shape =
        call.b != nullptr ? strided_shape({&out, &x, call.b}) : strided_shape({&out, &x});
    launcher_of(x.dtype())(call.function, shape, {call.other, call.scalars},
                           current_stream(out.device().index).get());
  });
  check_launch(call.info().op);
}

}  // namespace epi::cuda
