// SPDX-License-Identifier: Apache-2.0
// The part sweep: one compiled MLP over many numbers of rows, its difference from eager, and the
// number of recompiles.
#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/gpu_forward/load.h"
#include "bench/gpu_forward/parts.h"
#include "bench/gpu_forward/timing.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

// ||a - b|| / ||b||.
double difference(const Tensor& a, const Tensor& b) {
  const Tensor x = to(to(a, kCpu), DType::kF64);
  const Tensor y = to(to(b, kCpu), DType::kF64);
  double apart = 0;
  double whole = 0;
  for (int64_t i = 0; i < x.numel(); ++i) {
    const double d = x.data<double>()[i] - y.data<double>()[i];
    apart += d * d;
    whole += y.data<double>()[i] * y.data<double>()[i];
  }
  return std::sqrt(apart / whole);
}

}  // namespace

void measure_sweep(const std::string& weights, const std::vector<int64_t>& sizes) {
  const nn::GluMlp mlp = load_mlp(weights, nn::GluActivation::kGeluTanh);
  const Compiled compiled = compile(mlp, {.cache = false});
  fmt::print("{{\"sizes\": [");
  const char* comma = "";
  for (const int64_t m : sizes) {
    const Tensor x = randn({m, mlp.gate_proj.weight.size(1)}, 1, {DType::kBF16, kCuda});
    const double apart = difference(compiled(x), mlp.forward(x));
    fmt::print("{}{{\"m\": {}, \"difference\": {:.6f}, ", comma, m, apart);
    print("wall_us", wall_us([&] { compiled(x); }), "}");
    comma = ", ";
  }
  fmt::print("], \"recompiles\": {}}}\n", compiled.recompiles());
}

}  // namespace epi::bench
