// SPDX-License-Identifier: Apache-2.0
// The part gelu: a memory-bound operator against a copy.
#include <fmt/core.h>

#include <cstdint>

#include "bench/gpu_forward/parts.h"
#include "bench/gpu_forward/timing.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {

void measure_gelu(int64_t count) {
  const Tensor x = randn({count}, 1, {DType::kBF16, kCuda});
  const Tensor y = empty({count}, {DType::kBF16, kCuda});
  fmt::print("{{");
  print("gelu_us", wall_us([&] { gelu(x, "tanh"); }), ", ");
  print("copy_us", wall_us([&] { copy_(y, x); }), "}\n");
}

}  // namespace epi::bench
