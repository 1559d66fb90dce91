// SPDX-License-Identifier: Apache-2.0
// The part host: the host time of the parts of small operators and blocks, next to the bare
// launches that they consist of.
#include <fmt/core.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "bench/gpu_forward/bare_gemm.h"
#include "bench/gpu_forward/parts.h"
#include "bench/gpu_forward/timing.h"
#include "bench/profile_empty_kernel.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

nn::GluMlp random_mlp(int64_t dim, int64_t hidden) {
  nn::GluMlp mlp(dim, hidden, nn::GluActivation::kGeluTanh, false, DType::kBF16);
  nn::init_normal(mlp, 1);
  mlp.to(kCuda);
  return mlp;
}

// Two GEMMs with one kernel between them, called directly through the library and the driver: the
// lower bound for a compiled MLP.
Body bare_launches(const cuda::Gemm& up, const cuda::Gemm& down, const Tensor& h) {
  const Tensor target = empty(h.shape(), {h.dtype(), h.device()});
  return [=] {
    cuda::try_gemm(up, 0);
    copy_(target, h);
    cuda::try_gemm(down, 0);
  };
}

// Through the CUDA runtime: the lower bound for a compiled MLP of two kernels.
void launch_two_empty_kernels() {
  launch_empty_kernel(nullptr);
  launch_empty_kernel(nullptr);
}

}  // namespace

void measure_host() {
  const TensorOptions options{DType::kBF16, kCuda};
  const nn::GluMlp mlp = random_mlp(64, 256);
  const Compiled compiled = compile(mlp, {.cache = false});
  const Compiled graph = compile(mlp, {.cache = false, .graph = true});
  const Tensor x = randn({128, 64}, 1, options);
  const Tensor w = randn({256, 64}, 2, options);
  const Tensor h = randn({128, 256}, 3, options);
  const Tensor bias = randn({256}, 4, options);
  const cuda::Gemm gemm = bare_gemm(x, w, h);
  // Too large for one kernel on Hopper: gate, up and gelu are one, and down is another.
  const Compiled two_kernels = compile(random_mlp(512, 2048), {.cache = false});
  const Tensor wide_x = randn({8, 512}, 5, options);
  const std::vector<std::pair<const char*, Body>> parts{
      {"empty", [&] { empty(h.shape(), options); }},
      {"is_capturing", [] { cuda::current_stream().is_capturing(); }},
      {"t", [&] { t(w); }},
      {"gelu", [&] { gelu(h, "tanh"); }},
      {"mul", [&] { mul(h, h); }},
      {"try_gemm", [&] { cuda::try_gemm(gemm, 0); }},
      {"mm", [&] { mm(x, t(w)); }},
      {"linear", [&] { linear(x, w); }},
      {"linear_bias", [&] { linear(x, w, bias); }},
      {"mlp", [&] { mlp.forward(x); }},
      {"mlp_bare", bare_launches(gemm, bare_gemm(h, t(w), x), h)},
      {"mlp_compiled", [&] { compiled(x); }},
      {"mlp_graph", [&] { graph(x); }},
      {"launches_2", launch_two_empty_kernels},
      {"mlp_2_kernels", [&] { two_kernels(wide_x); }}};
  fmt::print("{:<14}{:>12}{:>18}\n", "", "back to back", "GPU idle");
  for (const auto& [name, body] : parts) {
    for (int i = 0; i < 3; ++i) body();
    fmt::print("{:<14}{:9.0f} ns{:15.0f} ns\n", name, host_ns(body), issue_us(body).median * 1000);
  }
}

}  // namespace epi::bench
