// SPDX-License-Identifier: Apache-2.0
// add(matmul(x, w), b): two operators, two kernels; compiled it is one, addmm. At 64 the time goes
// into calling them, at 4096 into the GEMM; the profiler's table tells which.
#include "epilogue/base/error.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "recording.h"

int main(int argc, char** argv) {
  return example::run([&] {
    example::Flags flags(argc, argv,
                         "add(matmul(x, w), b): two kernels; compiled it is one, addmm");
    const int64_t size = flags.size("--size", 1024, "Rows and columns of the three matrices");
    const int64_t rows = flags.size("--rows", size, "Of x and b, by default the size");
    const int64_t cols = flags.size("--cols", size, "Of w and b, by default the size");
    const bool bias = flags.has("--bias", "b is a vector of the columns, as in a Linear");
    const std::string layout = flags.text("--layout", "nn", "Of w; tn: transposed, as in a Linear");
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

    // w and b are parameters: x is what a call brings.
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
