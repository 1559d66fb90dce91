// SPDX-License-Identifier: Apache-2.0
// Which operators are fused into one kernel, checked by printed graphs and kernel names.
#include <gtest/gtest.h>

#include "epilogue/compiler/graph/capture.h"
#include "epilogue/compiler/passes/passes.h"
#include "epilogue/compiler/passes/pipeline.h"
#include "epilogue/compiler/plan/kernel_list.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

using Inputs = std::span<const Tensor>;

Graph after_passes(const TensorFunction& function, const std::vector<Tensor>& inputs, Fuse fuse) {
  register_cpu_backend();
  return run_passes(capture(function, inputs).graph, {fuse, CustomGemms::kPacked}).back().graph;
}

std::vector<std::string> names(const Graph& graph) {
  std::vector<std::string> result;
  for (const Kernel& kernel : list_kernels(graph)) result.push_back(kernel.name);
  return result;
}

using Names = std::vector<std::string>;

TEST(FoldScalars, FoldsScalarTensorsAndDropsIdentities) {
  register_cpu_backend();
  const Tensor two = full({}, 2);
  const Tensor three = full({}, 3);
  const auto function = [&](Inputs in) {
    return sub(mul(add(mul(two, three), div(in[0], 1.0)), two), 0.0);
  };
  const Graph graph = capture(function, std::vector<Tensor>{empty({2, 3})}).graph;
  EXPECT_EQ(to_string(fold_scalars(graph)),
            "x0 = input                                       f32[s0, 3]\n"
            "%0 = add(x0, 6, 1)                               f32[s0, 3]\n"
            "%1 = mul(%0, 2)                                  f32[s0, 3]\n"
            "return %1\n");
}

TEST(FoldScalars, KeepsOperatorsThatMayChangeBits) {
  // x + 0 is not x for x = -0. `div` takes a number as its second operand only.
  const auto function = [](Inputs in) { return add(div(full({}, 2), in[0]), 0.0); };
  const Graph graph = capture(function, std::vector<Tensor>{empty({2, 3})}).graph;
  EXPECT_EQ(to_string(fold_scalars(graph)),
            "x0 = input                                       f32[s0, 3]\n"
            "constant_0 = parameter                           f32[]\n"
            "%0 = div(constant_0, x0)                         f32[s0, 3]\n"
            "%1 = add(%0, 0, 1)                               f32[s0, 3]\n"
            "return %1\n");
}

TEST(GroupPointwise, FusesChainsUpToReductions) {
  const auto function = [](Inputs in) {
    const Tensor y = relu(add(in[0], in[0]));
    return mul(exp(neg(softmax(y, -1))), y);
  };
  const Graph graph = after_passes(function, {empty({2, 8})}, Fuse::kPointwise);
  EXPECT_EQ(to_string(graph),
            "x0 = input                                       f32[s0, 8]\n"
            "%0 = add(x0, x0, 1)                              f32[s0, 8] in kernel 0\n"
            "%1 = relu(%0)                                    f32[s0, 8] in kernel 0\n"
            "%2 = softmax(%1, 1)                              f32[s0, 8]\n"
            "%3 = neg(%2)                                     f32[s0, 8] in kernel 1\n"
            "%4 = exp(%3)                                     f32[s0, 8] in kernel 1\n"
            "%5 = mul(%4, %1)                                 f32[s0, 8] in kernel 1\n"
            "return %5\n");
  EXPECT_EQ(names(graph),
            (Names{"epi_poi_fused_add_relu", "aten::softmax", "epi_poi_fused_exp_mul_neg"}));
}

TEST(GroupPointwise, BroadcastOrTransposedResultsStartKernel) {
  const Tensor row = empty({1, 8});
  const auto broadcast = [&](Inputs in) { return mul(in[0], neg(row)); };
  EXPECT_EQ(names(after_passes(broadcast, {empty({2, 8})}, Fuse::kPointwise)),
            (Names{"epi_poi_fused_neg", "epi_poi_fused_mul"}));
  const auto transposed = [](Inputs in) { return exp(t(neg(in[0]))); };
  EXPECT_EQ(names(after_passes(transposed, {empty({2, 8})}, Fuse::kPointwise)),
            (Names{"epi_poi_fused_neg", "epi_poi_fused_exp_t"}));
}

TEST(GroupPointwise, LeavesIntegersToLibrary) {
  const auto function = [](Inputs in) { return neg(add(in[0], in[0])); };
  EXPECT_EQ(names(after_passes(function, {empty({2, 8}, {DType::kI64, kCpu})}, Fuse::kEpilogue)),
            (Names{"aten::add", "aten::neg"}));
}

TEST(FuseEpilogue, MlpHasFiveFourAndTwoKernels) {
  nn::GluMlp mlp(8, 16, nn::GluActivation::kGeluTanh);
  register_cpu_backend();
  nn::init_normal(mlp, 1);
  const auto forward = [&](Inputs in) { return mlp.forward(in[0]); };
  const std::vector<Tensor> x = {empty({2, 3, 8})};
  EXPECT_EQ(names(after_passes(forward, x, Fuse::kNone)),
            (Names{"aten::mm", "aten::mm", "aten::gelu", "aten::mul", "aten::mm"}));
  EXPECT_EQ(names(after_passes(forward, x, Fuse::kPointwise)),
            (Names{"aten::mm", "aten::mm", "epi_poi_fused__unsafe_view_gelu_mul", "aten::mm"}));
  const Graph fused = after_passes(forward, x, Fuse::kEpilogue);
  EXPECT_EQ(names(fused), (Names{"epi_tem_fused__unsafe_view_gelu_mm_mul", "epi_tem_fused_mm"}));
  EXPECT_EQ(to_string(fused),
            R"(x0 = input                                       f32[s0, s1, 8]
constant_0 = parameter                           f32[16, 8]
%0 = mm(x0{[s0*s1, 8]}, constant_0{[8, 16] strides [1, 8]}) f32[s0*s1, 16] in kernel 0
constant_1 = parameter                           f32[16, 8]
%1 = mm(x0{[s0*s1, 8]}, constant_1{[8, 16] strides [1, 8]}) f32[s0*s1, 16] in kernel 0
%2 = gelu(%0{[s0, s1, 16]}, "tanh")              f32[s0, s1, 16] in kernel 0
%3 = mul(%2, %1{[s0, s1, 16]})                   f32[s0, s1, 16] in kernel 0
constant_2 = parameter                           f32[8, 16]
%4 = mm(%3{[s0*s1, 16]}, constant_2{[16, 8] strides [1, 16]}) f32[s0*s1, 8] in kernel 1
%5 = _unsafe_view(%4, [s0, s1, 8])               f32[s0, s1, 8]
return %5
)");
}

TEST(FuseEpilogue, BlockWithNormAndResidualHasThreeKernels) {
  nn::GluMlp mlp(8, 16, nn::GluActivation::kSilu);
  register_cpu_backend();
  nn::init_normal(mlp, 1);
  const Tensor scale = empty({8});
  const auto block = [&](Inputs in) {
    return add(in[0], mlp.forward(rms_norm(in[0], {8}, scale)));
  };
  EXPECT_EQ(names(after_passes(block, {empty({2, 3, 8})}, Fuse::kEpilogue)),
            (Names{"aten::rms_norm", "epi_tem_fused__unsafe_view_mm_mul_silu",
                   "epi_tem_fused__unsafe_view_add_mm"}));
}

TEST(FuseEpilogue, KeepsResultOfGemmWithOtherReaders) {
  const Tensor w = empty({8, 8});
  const auto function = [&](Inputs in) {
    const Tensor gemm = mm(in[0], w);
    return mul(relu(gemm), softmax(gemm, -1));
  };
  EXPECT_EQ(names(after_passes(function, {empty({2, 8})}, Fuse::kEpilogue)),
            (Names{"epi_tem_fused_mm", "aten::softmax", "epi_poi_fused_mul_relu"}));
}

TEST(FuseEpilogue, LeavesGemmsOfTwoInputsToLibrary) {
  const auto function = [](Inputs in) { return relu(mm(in[0], in[1])); };
  const std::vector<Tensor> inputs = {empty({2, 8}), empty({8, 4})};
  register_cpu_backend();
  const Graph graph = capture(function, inputs, {.dynamic = false}).graph;
  EXPECT_EQ(names(run_passes(graph, {Fuse::kEpilogue, CustomGemms::kPacked}).back().graph),
            (Names{"aten::mm", "epi_poi_fused_relu"}));
}

TEST(FuseEpilogue, DoesNotFuseBroadcastAcrossBatch) {
  const Tensor w = empty({8, 4});
  const Tensor per_step = empty({3, 4});
  // [2, 3, 4] plus [3, 4]: the GEMM has 6 rows, and the 3 rows of the operand repeat.
  const auto function = [&](Inputs in) { return add(matmul(in[0], w), per_step); };
  register_cpu_backend();
  const std::vector<Tensor> inputs = {empty({2, 3, 8})};
  const Graph graph = capture(function, inputs, {.dynamic = false}).graph;
  EXPECT_EQ(names(run_passes(graph, {Fuse::kEpilogue, CustomGemms::kPacked}).back().graph),
            (Names{"epi_tem_fused_mm", "epi_poi_fused__unsafe_view_add"}));
}

TEST(JoinGemms, DoesNotJoinGemmsOfDifferentRows) {
  const Tensor a = empty({8, 4});
  const Tensor b = empty({8, 4});
  const auto other_rows = [&](Inputs in) {
    const Tensor first = mm(in[0], a);
    return mul(first, mm(neg(in[0]), b));
  };
  EXPECT_EQ(names(after_passes(other_rows, {empty({2, 8})}, Fuse::kEpilogue)),
            (Names{"epi_tem_fused_mm", "epi_poi_fused_neg", "epi_tem_fused_mm_mul"}));
  const Tensor c = empty({8, 4});
  const auto three = [&](Inputs in) { return add(mul(mm(in[0], a), mm(in[0], b)), mm(in[0], c)); };
  EXPECT_EQ(names(after_passes(three, {empty({2, 8})}, Fuse::kEpilogue)).size(), 2U);
}

TEST(Kernels, AreNotFusedAcrossDependencyCycles) {
  // The softmax reads y, and its result is combined with y: one kernel before it, one after it.
  const Tensor w = empty({8, 8});
  const auto function = [&](Inputs in) {
    const Tensor y = relu(mm(in[0], w));
    return add(y, mul(softmax(y, -1), y));
  };
  EXPECT_EQ(names(after_passes(function, {empty({2, 8})}, Fuse::kEpilogue)),
            (Names{"epi_tem_fused_mm_relu", "aten::softmax", "epi_poi_fused_add_mul"}));
}

}  // namespace
}  // namespace epi::compiler
