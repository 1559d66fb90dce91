// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels: a walk over the operands, and a loop from the table for each run.
#include "epilogue/cpu/cpu_kernels.h"
#include "epilogue/cpu/loops/loops.h"
#include "epilogue/cpu/strided_walk.h"

namespace epi::cpu {
namespace {

// What one element costs beside one copied element, so that small tensors are split sensibly.
constexpr int64_t kCheap = 1;
constexpr int64_t kTranscendental = 4;

KernelFacts pointwise_facts(std::string_view op, const StridedWalk& walk, const Tensor& out,
                            int64_t input_bytes, int64_t flops) {
  return {
      KernelName("pointwise_{}_{}{}", op, name(out.dtype()), walk.unit_stride() ? "" : "_strided"),
      input_bytes + out.size_bytes(), flops * out.numel()};
}

void run_unary(std::string_view name, Unary op, int64_t cost, Args args, const Tensor& out) {
  const Tensor& x = args.tensor(0);
  const UnaryLoop loop = loops().unary[static_cast<int>(op)][static_cast<int>(x.dtype())];
  EPI_CHECK(loop != nullptr);
  const StridedWalk walk(out.shape(), {operand(out, out.shape()), operand(x, out.shape())});
  run_kernel([&] { return pointwise_facts(name, walk, out, stored_bytes(x), 1); },
             [&] {
               walk.parallel(
                   [loop](const Run& run) {
                     loop(run.data[1], run.strides[1], run.data[0], run.strides[0], run.count);
                   },
                   cost);
             });
}

void run_binary(std::string_view name, Binary op, double alpha, Args args, const Tensor& out) {
  const Tensor& a = args.tensor(0);
  const bool scalar = !args[1].is_tensor();
  const BinaryScalars scalars{alpha, scalar ? args[1].number() : 0};
  const BinaryLoop loop = loops().binary[static_cast<int>(op)][static_cast<int>(a.dtype())];
  EPI_CHECK(loop != nullptr);
  const Dims& shape = out.shape();
  // A scalar has no address: its operand stands still at null.
  const Operand b =
      scalar ? Operand{nullptr, Dims::filled(shape.rank(), 0), 0} : operand(args.tensor(1), shape);
  const StridedWalk walk(shape, {operand(out, shape), operand(a, shape), b});
  const int64_t input_bytes = stored_bytes(a) + (scalar ? 0 : stored_bytes(args.tensor(1)));
  run_kernel(
      // With an alpha there is a multiplication too.
      [&] { return pointwise_facts(name, walk, out, input_bytes, alpha == 1 ? 1 : 2); },
      [&] {
        walk.parallel([loop, scalars](const Run& run) {
          loop(run.data[1], run.strides[1], run.data[2], run.strides[2], run.data[0],
               run.strides[0], run.count, scalars);
        });
      });
}

}  // namespace

void add(Args args, const Tensor& out) {
  run_binary("add", Binary::kAdd, args[2].number(), args, out);
}
void sub(Args args, const Tensor& out) {
  run_binary("sub", Binary::kSub, args[2].number(), args, out);
}
void mul(Args args, const Tensor& out) { run_binary("mul", Binary::kMul, 1, args, out); }
void div(Args args, const Tensor& out) { run_binary("div", Binary::kDiv, 1, args, out); }

void exp(Args args, const Tensor& out) {
  run_unary("exp", Unary::kExp, kTranscendental, args, out);
}
void gelu(Args args, const Tensor& out) {
  if (args[1].text() == "tanh") {
    run_unary("gelu_tanh", Unary::kGeluTanh, kTranscendental, args, out);
  } else {
    run_unary("gelu", Unary::kGelu, kTranscendental, args, out);
  }
}
void neg(Args args, const Tensor& out) { run_unary("neg", Unary::kNeg, kCheap, args, out); }
void relu(Args args, const Tensor& out) { run_unary("relu", Unary::kRelu, kCheap, args, out); }
void sigmoid(Args args, const Tensor& out) {
  run_unary("sigmoid", Unary::kSigmoid, kTranscendental, args, out);
}
void silu(Args args, const Tensor& out) {
  run_unary("silu", Unary::kSilu, kTranscendental, args, out);
}
void tanh(Args args, const Tensor& out) {
  run_unary("tanh", Unary::kTanh, kTranscendental, args, out);
}

}  // namespace epi::cpu
