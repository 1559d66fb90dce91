// SPDX-License-Identifier: Apache-2.0
// add(matmul(x, w), b): two operators and two kernels. Compiled, it is one kernel, addmm. At size
// 64 most of the time is host overhead, at 4096 it is the GEMM. The profiler's table shows which.
#include "epilogue/base/error.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "recording.h"

int main(int argc, char** argv) {
  return example::run([&] {
    example::Flags flags(argc, argv,
                         "add(matmul(x, w), b): two kernels; compiled, one kernel (addmm)");
    const int64_t size = flags.size("--size", 1024, "Rows and columns of the three matrices");
    const int64_t rows = flags.size("--rows", size, "Rows of x and b, by default --size");
    const int64_t cols = flags.size("--cols", size, "Columns of w and b, by default --size");
    const bool bias = flags.has("--bias", "Make b a vector, one value per column, as in a Linear");
    const std::string layout =
        flags.text("--layout", "nn", "Layout of w; tn: transposed, as in a Linear");
    const auto recording = example::recording_flags(flags);
    const auto compile = example::compile_flags(flags, "matmul_add");
    if (!flags.done()) return;
    if (layout != "nn" && layout != "tn") {
      throw epi::Error(fmt::format("--layout {}: must be nn or tn", layout));
    }
    const bool transposed = layout == "tn";

    const epi::TensorOptions options{recording.dtype, recording.device};
    const epi::Tensor x = epi::randn({rows, size}, 0, options);
    const epi::Tensor w = transposed ? epi::t(epi::randn({cols, size}, 1, options))
                                     : epi::randn({size, cols}, 1, options);
    const epi::Tensor b =
        bias ? epi::randn({cols}, 2, options) : epi::randn({rows, cols}, 2, options);

    // w and b are parameters. Each call passes only x.
    const auto matmul_add = [w, b](std::span<const epi::Tensor> inputs) {
      return epi::add(epi::matmul(inputs[0], w), b);
    };
    if (!compile.compile) {
      example::record("matmul_add", [&] { matmul_add({&x, 1}); }, recording);
      return;
    }
    const epi::Compiled fast(matmul_add, {{"w", w}, {"b", b}}, compile.options);
    example::record("matmul_add", [&] { fast(x); }, recording);
  });
}
