// SPDX-License-Identifier: Apache-2.0
// A Linear is one kernel: the transpose only changes strides, and the bias is added in the GEMM's
// epilogue. Compiled with --fuse pointwise, it is still that kernel.
#include "epilogue/compiler/compile.h"
#include "epilogue/nn/linear.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/tensor/print.h"
#include "recording.h"

int main(int argc, char** argv) {
  return example::run([&] {
    example::Flags flags(argc, argv, "A Linear: y = x @ w.t() + b is one kernel");
    const int64_t batch = flags.size("--batch", 1024, "Rows of x");
    const int64_t in_dim = flags.size("--in-dim", 32, "Inputs");
    const int64_t out_dim = flags.size("--out-dim", 64, "Outputs");
    const bool bias = !flags.has("--no-bias", "Omit the bias");
    const auto recording = example::recording_flags(flags);
    const auto compile = example::compile_flags(flags, "linear");
    if (!flags.done()) return;

    epi::nn::Linear layer(in_dim, out_dim, bias, recording.dtype);
    epi::nn::init_normal(layer, 1);
    layer.to(recording.device);
    const epi::Tensor x = epi::randn({batch, in_dim}, 0, {recording.dtype, recording.device});
    fmt::print("weight     {}\nweight.t() {}\n\n", epi::describe(layer.weight),
               epi::describe(epi::t(layer.weight)));

    if (!compile.compile) {
      example::record("linear_fwd", [&] { layer.forward(x); }, recording);
      return;
    }
    const epi::Compiled fast = epi::compile(layer, compile.options);
    example::record("linear_fwd", [&] { fast(x); }, recording);
  });
}
