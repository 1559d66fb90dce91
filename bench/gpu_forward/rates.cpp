// SPDX-License-Identifier: Apache-2.0
// The part rates: our gate, up and gelu as compiled, against a cuBLASLt GEMM of the same size.
#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "bench/gpu_forward/bare_gemm.h"
#include "bench/gpu_forward/parts.h"
#include "bench/gpu_forward/timing.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

// Alternates the two sides every round, because the clock depends on the temperature. Uses four
// sets of buffers.
void measure_rate(int64_t m, int64_t n, int64_t k) {
  const TensorOptions options{DType::kBF16, kCuda};
  const Tensor weights = mul(randn({2 * n, k}, 1, options), 1 / std::sqrt(static_cast<double>(k)));
  const Tensor gate = slice(weights, 0, 0, n);
  const Tensor up = slice(weights, 0, n, 2 * n);
  const auto glu = [=](std::span<const Tensor> in) {
    return mul(gelu(linear(in[0], gate), "tanh"), linear(in[0], up));
  };
  const Compiled compiled(glu, {{"gate", gate}, {"up", up}}, {});
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  for (uint64_t i = 0; i < 4; ++i) {
    inputs.push_back(randn({m, k}, i, options));
    outputs.push_back(empty({m, 2 * n}, options));
  }
  size_t next = 0;
  const Body ours = [&] { compiled(inputs[next++ % 4]); };
  const Body library = [&] {
    const size_t i = next++ % 4;
    cuda::try_gemm(bare_gemm(inputs[i], weights, outputs[i]), 0);
  };
  std::vector<double> our_us;
  std::vector<double> library_us;
  for (int round = 0; round < kRounds; ++round) {
    our_us.push_back(wall_us(ours, 1).median);
    library_us.push_back(wall_us(library, 1).median);
  }
  fmt::print("{{\"m\": {}, \"n\": {}, \"k\": {}, \"kernels\": {}, ", m, n, k,
             compiled.variants()[0].kernels.size());
  print("ours_us", spread_of(std::move(our_us)), ", ");
  print("library_us", spread_of(std::move(library_us)), "}");
}

}  // namespace

void measure_rates(int64_t n, int64_t k, const std::vector<int64_t>& sizes) {
  fmt::print("[");
  for (const int64_t m : sizes) {
    if (m != sizes.front()) fmt::print(", ");
    measure_rate(m, n, k);
  }
  fmt::print("]\n");
}

}  // namespace epi::bench
