// SPDX-License-Identifier: Apache-2.0
// The MLP with prebuilt kernels: a package is looked up, verified and loaded; then the same module
// runs with it. No compiler, no guards, any number of rows.
#include <fmt/core.h>

#include "epilogue/base/error.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/hub/kernel.h"
#include "epilogue/hub/prebuilt_glu_mlp.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

int main() {
  using namespace epi;
  register_cpu_backend();

  // The best variant for this CPU. Where there is none, the failure says why, of each.
  const auto glu = hub::get_kernel("epilogue/glu", 1);
  if (!glu) {
    fmt::print("{}\n", glu.error().message);
    return 1;
  }
  fmt::print("{}@{} {}\n", glu->manifest().name, glu->manifest().version, glu->manifest().variant);

  nn::GluMlp mlp(64, 256);
  nn::init_normal(mlp, 1);
  const hub::GluMlp layer(mlp, *glu);  // shares the parameters
  float most = 0;
  for (const int64_t rows : {1, 7, 128}) {
    const Tensor x = randn({rows, 64}, 2);
    const Tensor difference = sub(layer.forward(x), mlp.forward(x));
    most = std::max(most, amax(mul(difference, difference)).data<float>()[0]);
  }
  fmt::print("eager and prebuilt differ by at most {:.1e}, squared\n", most);

  // A kernel by its name, on any tensors: halves of one product are read where they are.
  const Tensor both = randn({4, 512}, 3);
  const Tensor h = glu->call("silu_and_mul", {slice(both, 1, 0, 256), slice(both, 1, 256, 512)});
  fmt::print("silu_and_mul of two halves: {} x {}\n", h.size(0), h.size(1));
  return most < 1e-8 ? 0 : 1;
}
