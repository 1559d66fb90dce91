// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels: a walk over the operands that calls a loop from the table for each run.
#include "epilogue/cpu/cpu_kernels.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/cpu/strided_walk.h"
#include "epilogue/ops/pointwise_call.h"

namespace epi::cpu {
namespace {

KernelCost facts_of(const PointwiseCall& call, const StridedWalk& walk, const Tensor& x,
                    const Tensor& out) {
  const int64_t input_bytes = stored_bytes(x) + (call.b != nullptr ? stored_bytes(*call.b) : 0);
  return {KernelName("pointwise_{}_{}{}", call.info().name, name(out.dtype()),
                     walk.unit_stride() ? "" : "_strided"),
          input_bytes + out.size_bytes(), call.flops() * out.numel()};
}

StridedWalk walk_of(const PointwiseCall& call, const Tensor& x, const Tensor& out) {
  const Dims& shape = out.shape();
  if (call.info().inputs == 1) return {shape, {operand(out, shape), operand(x, shape)}};
  // A number has no address: its operand is null with stride 0.
  const Operand b = call.b != nullptr ? operand(*call.b, shape)
                                      : Operand{nullptr, Dims::filled(shape.rank(), 0), 0};
  return {shape, {operand(out, shape), operand(x, shape), b}};
}

}  // namespace

void run_pointwise(Op op, Args args, const Tensor& out) {
  const PointwiseCall call(op, args);
  const Tensor& x = args.tensor(0);
  const PointwiseLoop loop =
      loops().pointwise[static_cast<size_t>(call.function)][static_cast<size_t>(x.dtype())];
  EPI_CHECK(loop != nullptr);
  const PointwiseScalars numbers{call.other, call.scalars};
  const StridedWalk walk = walk_of(call, x, out);
  const bool binary = call.info().inputs == 2;
  run_kernel([&] { return facts_of(call, walk, x, out); },
             [&] {
               walk.parallel(
                   [loop, binary, &numbers](const Run& run) {
                     loop(run.data[1], run.strides[1], binary ? run.data[2] : nullptr,
                          binary ? run.strides[2] : 0, run.data[0], run.strides[0], run.count,
                          numbers);
                   },
                   pointwise::relative_cpu_cost(call.function));
             });
}

}  // namespace epi::cpu
