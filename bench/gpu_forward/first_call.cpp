// SPDX-License-Identifier: Apache-2.0
// The part first: the first call of a compiled GeGLU MLP, with code from the cache or without.
#include <fmt/core.h>

#include <cstdint>
#include <string>

#include "bench/gpu_forward/load.h"
#include "bench/gpu_forward/parts.h"
#include "epilogue/base/clock.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {

// Runs a GEMM of another shape first, so that the CUDA context and the cuBLASLt handle exist.
void measure_first_call(const std::string& weights) {
  const nn::GluMlp mlp = load_mlp(weights, nn::GluActivation::kGeluTanh);
  const TensorOptions options{DType::kBF16, kCuda};
  mm(randn({64, 32}, 1, options), randn({32, 64}, 2, options));
  const Tensor x = randn({128, mlp.gate_proj.weight.size(1)}, 3, options);
  cuda::synchronize();
  const int64_t start_ns = now_ns();
  const Compiled compiled = compile(mlp);
  compiled(x);
  cuda::synchronize();
  fmt::print("{{\"first_call_ms\": {:.3f}, \"from_cache\": {}}}\n",
             static_cast<double>(now_ns() - start_ns) * 1e-6, compiled.variants()[0].from_cache);
}

}  // namespace epi::bench
