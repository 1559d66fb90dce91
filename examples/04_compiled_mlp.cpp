// SPDX-License-Identifier: Apache-2.0
// The same MLP compiled: five kernels become two, for every batch size, and every lowering stage
// can be printed. Usage: 04_compiled_mlp
#include <fmt/core.h>

#include <cstdio>

#include "epilogue/base/error.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/tensor/factories.h"

namespace {

void run() {
  epi::nn::GluMlp mlp(256, 1024);
  epi::nn::init_normal(mlp, 1);
  const epi::Compiled fast = epi::compile(mlp, {.name = "mlp"});
  for (const int64_t batch : {4, 16, 1}) {
    const epi::Tensor x = epi::randn({batch, 32, 256}, 0);
    const epi::Tensor eager = mlp.forward(x);
    const epi::Tensor compiled = fast(x);
    fmt::print("batch {:>2}: {:+.5f} eager, {:+.5f} compiled, {} recompiles\n", batch,
               eager.data<float>()[0], compiled.data<float>()[0], fast.recompiles());
  }
  const epi::VariantInfo variant = fast.variants()[0];
  fmt::print("\n{}\n{}", variant.stages.back(), variant.plan);
}

}  // namespace

int main() {
  epi::register_cpu_backend();
  try {
    run();
  } catch (const epi::Error& error) {  // without LLVM, the message names the package to install
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
  return 0;
}
