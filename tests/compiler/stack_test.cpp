// SPDX-License-Identifier: Apache-2.0
// Passes that change GEMMs for the library: two GEMMs of the same rows become one over stacked
// weights, and activations move into the GEMM. The CPU runs the resulting graphs, too.
#include <gtest/gtest.h>

#include "epilogue/compiler/graph/capture.h"
#include "epilogue/compiler/passes/passes.h"
#include "epilogue/compiler/passes/pipeline.h"
#include "epilogue/compiler/plan/plan.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

using Inputs = std::span<const Tensor>;

Captured captured_mlp(nn::GluMlp& mlp, const Tensor& x) {
  register_cpu_backend();
  nn::init_normal(mlp, 1);
  CaptureOptions options;
  for (const auto& [name, tensor] : mlp.parameters()) options.parameters.push_back({name, *tensor});
  options.input_names = {"x"};
  const auto forward = [&](Inputs in) { return mlp.forward(in[0]); };
  return capture(forward, std::vector<Tensor>{x}, options);
}

TEST(StackGemms, MergesGateAndUpIntoOneGemm) {
  nn::GluMlp mlp(16, 32);
  const Graph graph = captured_mlp(mlp, empty({2, 3, 16})).graph;
  EXPECT_EQ(to_string(stack_gemms(drop_dead(fold_views(graph)), CustomGemms::kNone)),
            R"(x = input                                        f32[s0, s1, 16]
gate_proj.weight over up_proj.weight = parameter f32[64, 16]
%0 = mm(x{[s0*s1, 16]}, gate_proj.weight over up_proj.weight{[16, 64] strides [1, 16]}) f32[s0*s1, 64]
%1 = gelu(%0{[s0, s1, 32] strides [s1*64, 64, 1]}, "tanh") f32[s0, s1, 32]
%2 = mul(%1, %0{[s0, s1, 32] strides [s1*64, 64, 1] offset 32}) f32[s0, s1, 32]
down_proj.weight = parameter                     f32[16, 32]
%3 = mm(%2{[s0*s1, 32]}, down_proj.weight{[32, 16] strides [1, 32]}) f32[s0*s1, 16]
%4 = _unsafe_view(%3, [s0, s1, 16])              f32[s0, s1, 16]
return %4
)");
}

TEST(CustomGemms, MlpIsTwoKernelsOnHopper) {
  nn::GluMlp mlp(16, 32, nn::GluActivation::kGeluTanh, false, DType::kBF16);
  const Graph graph = captured_mlp(mlp, empty({2, 3, 16}, {DType::kBF16, kCpu})).graph;
  const auto names = [&](CustomGemms custom) {
    std::vector<std::string> found;
    for (const Kernel& kernel :
         list_kernels(run_passes(graph, {Fuse::kEpilogue, custom}).back().graph)) {
      found.push_back(kernel.name);
    }
    return found;
  };
  EXPECT_EQ(
      names(CustomGemms::kHopper),
      (std::vector<std::string>{"epi_tem_fused__unsafe_view_gelu_mm_mul", "epi_tem_fused_mm"}));
  EXPECT_EQ(
      names(CustomGemms::kNone),
      (std::vector<std::string>{"aten::mm", "epi_poi_fused__unsafe_view_gelu_mul", "aten::mm"}));
}

TEST(CustomGemms, ReportReasonForLibraryGemm) {
  register_cpu_backend();
  const auto why = [](DType dtype, int64_t n, int64_t k) {
    const Tensor w = randn({n, k}, 1, {dtype, kCpu});
    CaptureOptions options;
    options.parameters = {{"w", w}};
    const auto function = [&](Inputs in) { return linear(in[0], w); };
    const std::vector<Tensor> x = {randn({3, k}, 2, {dtype, kCpu})};
    const Graph graph = fold_views(capture(function, x, options).graph);
    for (const Node& node : graph.nodes) {
      if (is_gemm(node)) return why_library_gemm(graph, node, CustomGemms::kHopper);
    }
    return std::string("no GEMM");
  };
  EXPECT_EQ(why(DType::kBF16, 64, 32), "");
  EXPECT_EQ(why(DType::kF16, 64, 32), "");
  EXPECT_EQ(why(DType::kF32, 64, 32), "custom kernels support bf16 and f16, not f32");
  EXPECT_EQ(why(DType::kBF16, 60, 32), "60 is not a multiple of 8");
  EXPECT_EQ(why(DType::kBF16, 64, 33), "33 is not a multiple of 8");
}

TEST(StackGemms, MatchesEagerForEverySize) {
  nn::GluMlp mlp(16, 32);
  const Captured captured = captured_mlp(mlp, empty({2, 3, 16}));
  const Graph stacked =
      run_passes(captured.graph, {Fuse::kEpilogue, CustomGemms::kNone}).back().graph;
  const Plan plan(stacked, kCpu, UseCache::kNo);
  for (const int64_t batch : {1, 2, 5}) {
    const Tensor x = randn({batch, 3, 16}, 7);
    const std::vector<int64_t> sizes = {batch, 3};
    const Tensor got = plan.bind(sizes)->run_single(std::vector<Tensor>{x});
    const Tensor want = mlp.forward(x);
    ASSERT_EQ(got.shape(), want.shape());
    for (int64_t i = 0; i < got.numel(); ++i) {
      ASSERT_NEAR(got.data<float>()[i], want.data<float>()[i], 1e-5) << i;
    }
  }
}

TEST(FormActivation, MovesActivationIntoLibraryGemm) {
  register_cpu_backend();
  const Tensor w = randn({32, 16}, 1, {DType::kBF16, kCpu});
  const Tensor b = randn({32}, 2, {DType::kBF16, kCpu});
  const Tensor v = randn({16, 32}, 3, {DType::kBF16, kCpu});
  const auto mlp = [&](Inputs in) { return linear(gelu(linear(in[0], w, b), "tanh"), v); };
  CaptureOptions options;
  options.parameters = {{"w", w}, {"b", b}, {"v", v}};
  options.input_names = {"x"};
  const std::vector<Tensor> x = {randn({2, 3, 16}, 4, {DType::kBF16, kCpu})};
  const Graph graph =
      run_passes(capture(mlp, x, options).graph, {Fuse::kEpilogue, CustomGemms::kNone})
          .back()
          .graph;
  EXPECT_EQ(to_string(graph), R"(x = input                                        bf16[s0, s1, 16]
w = parameter                                    bf16[32, 16]
b = parameter                                    bf16[32]
%0 = _addmm_activation(b, x{[s0*s1, 16]}, w{[16, 32] strides [1, 16]}, 1, 1, true) bf16[s0*s1, 32]
v = parameter                                    bf16[16, 32]
%1 = mm(%0{[s0*s1, 32]}, v{[32, 16] strides [1, 32]}) bf16[s0*s1, 16]
%2 = _unsafe_view(%1, [s0, s1, 16])              bf16[s0, s1, 16]
return %2
)");
  const Tensor got =
      Plan(graph, kCpu, UseCache::kNo).bind(std::vector<int64_t>{2, 3})->run_single(x);
  const Tensor want = mlp(x);
  ASSERT_EQ(got.shape(), want.shape());
  // Both run the same operators on the CPU, so results are rounded at the same places.
  for (int64_t i = 0; i < got.numel(); ++i) {
    ASSERT_EQ(to(got, DType::kF64).data<double>()[i], to(want, DType::kF64).data<double>()[i]);
  }
}

TEST(FormActivation, KeepsActivationInPointwiseKernel) {
  register_cpu_backend();
  const Tensor w = randn({32, 16}, 1);
  const Tensor b = randn({32}, 2);
  CaptureOptions options;
  options.parameters = {{"w", w}, {"b", b}};
  const auto forms = [&](const TensorFunction& function) {
    const auto stages =
        run_passes(capture(function, std::vector<Tensor>{randn({3, 16}, 4)}, options).graph,
                   {Fuse::kEpilogue, CustomGemms::kNone});
    return stages.back().text.find("_addmm_activation") != std::string::npos;
  };
  EXPECT_TRUE(forms([&](Inputs in) { return relu(linear(in[0], w, b)); }));
  EXPECT_FALSE(forms([&](Inputs in) { return mul(relu(linear(in[0], w, b)), 2); }));
  EXPECT_FALSE(forms([&](Inputs in) { return relu(linear(in[0], w)); }));  // no bias
  // The library's gelu is not accurate enough for f32, and the library has no erf variant.
  EXPECT_FALSE(forms([&](Inputs in) { return gelu(linear(in[0], w, b), "tanh"); }));
  EXPECT_FALSE(forms([&](Inputs in) { return gelu(linear(in[0], w, b)); }));
  // The addend is not a row: a matrix, and a single number.
  EXPECT_FALSE(forms([&](Inputs in) { return relu(addmm(linear(in[0], w), in[0], t(w))); }));
  EXPECT_FALSE(forms([&](Inputs in) { return relu(add(matmul(in[0], t(w)), select(b, 0, 0))); }));
  EXPECT_FALSE(forms([&](Inputs in) {
    const Tensor sum = linear(in[0], w, b);  // read twice
    return matmul(t(relu(sum)), sum);
  }));
}

TEST(StackGemms, StacksTwoOfThreeEqualGemms) {
  register_cpu_backend();
  const Tensor a = randn({32, 16}, 1);
  const Tensor b = randn({32, 16}, 2);
  const Tensor c = randn({32, 16}, 3);
  const auto sums = [&](Inputs in) {
    return add(add(linear(in[0], a), linear(in[0], b)), linear(in[0], c));
  };
  const Graph graph =
      stack_gemms(drop_dead(fold_views(capture(sums, std::vector<Tensor>{empty({4, 16})}).graph)),
                  CustomGemms::kNone);
  int gemms = 0;
  for (const Node& node : graph.nodes) gemms += node.kind == NodeKind::kOp && node.op == Op::kMm;
  EXPECT_EQ(gemms, 2) << to_string(graph);
}

TEST(StackGemms, KeepsGemmReadByReduction) {
  register_cpu_backend();
  const Tensor a = randn({32, 16}, 1);
  const Tensor b = randn({32, 16}, 2);
  const auto sums = [&](Inputs in) {
    return add(sum(linear(in[0], a), {1}, true), linear(in[0], b));
  };
  const Graph graph =
      drop_dead(fold_views(capture(sums, std::vector<Tensor>{empty({4, 16})}).graph));
  EXPECT_EQ(to_string(stack_gemms(graph, CustomGemms::kNone)), to_string(graph));
}

}  // namespace
}  // namespace epi::compiler
