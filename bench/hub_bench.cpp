// SPDX-License-Identifier: Apache-2.0
// Prebuilt kernels against the same function compiled here.
#include "bench/suite.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/hub/kernel.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::bench {
namespace {

constexpr int64_t kRows = 2048;
constexpr int64_t kHidden = 3072;

Side side(std::string name, std::function<void()> body) {
  return {std::move(name), std::move(body), {}, {}};
}

}  // namespace

void add_hub(Suite& suite) {
  register_cpu_backend();
  const auto kernels = hub::get_kernel("epilogue/glu", 1);
  if (!kernels) return;
  const hub::Kernels glu = *kernels;
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const std::vector<Tensor> halves = {randn({kRows, kHidden}, 1, {dtype}),
                                        randn({kRows, kHidden}, 2, {dtype})};
    const Compiled compiled(
        [](std::span<const Tensor> in) { return mul(gelu(in[0], "tanh"), in[1]); }, {}, {});
    Contest contest;
    contest.text = fmt::format("prebuilt gelu_tanh_and_mul {} 2048x3072 / compiled", name(dtype));
    contest.limit = 1.2;  // g++ 12 against LLVM 19: 1.17 in f32 on a Neoverse V1
    contest.calls = 3;
    contest.ours =
        side("prebuilt", [=] { benchmark::DoNotOptimize(glu.call("gelu_tanh_and_mul", halves)); });
    contest.rival = side("compiled", [=] { benchmark::DoNotOptimize(compiled(halves)); });
    suite.add(fmt::format("hub/glu/{}", name(dtype)), std::move(contest));
  }
}

}  // namespace epi::bench
