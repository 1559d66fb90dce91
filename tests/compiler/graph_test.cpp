// SPDX-License-Identifier: Apache-2.0
// Capture and the graph passes, checked by the printed graphs.
#include "epilogue/compiler/graph/graph.h"

#include <gtest/gtest.h>

#include "epilogue/base/error.h"
#include "epilogue/compiler/graph/capture.h"
#include "epilogue/compiler/passes/passes.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::compiler {
namespace {

using Inputs = std::span<const Tensor>;

std::string captured(const TensorFunction& function, const std::vector<Tensor>& inputs,
                     const CaptureOptions& options = {}) {
  return to_string(capture(function, inputs, options).graph);
}

CaptureOptions with_parameters(nn::Module& module) {
  CaptureOptions options;
  for (const auto& [name, tensor] : module.parameters())
    options.parameters.push_back({name, *tensor});
  options.input_names = {"x"};
  return options;
}

TEST(SymSize, IsRecoveredFromHints) {
  SymbolHints hints;
  const std::vector<int64_t> fixed = {768, 1009 * 2};
  hints.add(fixed);
  hints.add(fixed);
  const int64_t batch = hints.hints()[0];
  const int64_t rows = hints.hints()[1];
  EXPECT_NE(batch, 1009);  // 1009 divides a fixed size
  EXPECT_EQ(to_string(hints.read(batch * rows * 768)), "s0*s1*768");
  EXPECT_EQ(to_string(hints.read(768)), "768");
  EXPECT_EQ(to_string(hints.read(0)), "0");
  EXPECT_EQ(to_string(hints.read(-1)), "-1");
  const std::vector<int64_t> sizes = {3, 5};
  EXPECT_EQ(hints.read(batch * 4).at(sizes), 12);
}

TEST(Capture, MlpHasPrimitivesAndSymbolicBatchAndSequence) {
  nn::GluMlp mlp(768, 3072, nn::GluActivation::kGeluTanh);
  register_cpu_backend();
  nn::init_normal(mlp, 1);
  const auto forward = [&](Inputs inputs) { return mlp.forward(inputs[0]); };
  EXPECT_EQ(captured(forward, {empty({2, 3, 768})}, with_parameters(mlp)),
            R"(x = input                                        f32[s0, s1, 768]
gate_proj.weight = parameter                     f32[3072, 768]
%0 = t(gate_proj.weight)                         f32[768, 3072] strides [1, 768]
%1 = view(x, [s0*s1, 768])                       f32[s0*s1, 768]
%2 = mm(%1, %0)                                  f32[s0*s1, 3072]
%3 = _unsafe_view(%2, [s0, s1, 3072])            f32[s0, s1, 3072]
up_proj.weight = parameter                       f32[3072, 768]
%4 = t(up_proj.weight)                           f32[768, 3072] strides [1, 768]
%5 = view(x, [s0*s1, 768])                       f32[s0*s1, 768]
%6 = mm(%5, %4)                                  f32[s0*s1, 3072]
%7 = _unsafe_view(%6, [s0, s1, 3072])            f32[s0, s1, 3072]
%8 = gelu(%3, "tanh")                            f32[s0, s1, 3072]
%9 = mul(%8, %7)                                 f32[s0, s1, 3072]
down_proj.weight = parameter                     f32[768, 3072]
%10 = t(down_proj.weight)                        f32[3072, 768] strides [1, 3072]
%11 = view(%9, [s0*s1, 3072])                    f32[s0*s1, 3072]
%12 = mm(%11, %10)                               f32[s0*s1, 768]
%13 = _unsafe_view(%12, [s0, s1, 768])           f32[s0, s1, 768]
return %13
)");
}

TEST(Capture, StaticCaptureHasFixedSizes) {
  const auto twice = [](Inputs inputs) { return add(inputs[0], inputs[0]); };
  EXPECT_EQ(captured(twice, {empty({2, 3})}, {.dynamic = false}),
            "x0 = input                                       f32[2, 3]\n"
            "%0 = add(x0, x0, 1)                              f32[2, 3]\n"
            "return %0\n");
}

TEST(Capture, EqualSizesShareSymbolAndOnesAreFixed) {
  const auto sum = [](Inputs inputs) { return add(inputs[0], mul(inputs[1], inputs[2])); };
  EXPECT_EQ(captured(sum, {empty({5, 4}), empty({5, 4}), empty({1, 4})}),
            "x0 = input                                       f32[s0, 4]\n"
            "x1 = input                                       f32[s0, 4]\n"
            "x2 = input                                       f32[1, 4]\n"
            "%0 = mul(x1, x2)                                 f32[s0, 4]\n"
            "%1 = add(x0, %0, 1)                              f32[s0, 4]\n"
            "return %1\n");
}

TEST(Capture, StridesAreSymbolicWhereTheyFollowFromSizes) {
  const auto negate = [](Inputs inputs) { return neg(inputs[0]); };
  EXPECT_EQ(captured(negate, {t(empty({4, 6}))}),
            "x0 = input                                       f32[s0, 4] strides [1, s0]\n"
            "%0 = neg(x0)                                     f32[s0, 4]\n"
            "return %0\n");
  EXPECT_EQ(captured(negate, {narrow(empty({6, 8}), 1, 2, 4)}),
            "x0 = input                                       f32[s0, 4] strides [8, 1]\n"
            "%0 = neg(x0)                                     f32[s0, 4]\n"
            "return %0\n");
}

TEST(Capture, RecordsCopiesAsPureNodes) {
  const auto convert = [](Inputs inputs) { return to(inputs[0], DType::kBF16); };
  EXPECT_EQ(captured(convert, {empty({2, 3})}),
            "x0 = input                                       f32[s0, 3]\n"
            "%0 = copy_(x0)                                   bf16[s0, 3]\n"
            "return %0\n");
}

std::string capture_error(const TensorFunction& function, const std::vector<Tensor>& inputs) {
  try {
    captured(function, inputs);
  } catch (const Error& error) {
    return error.what();
  }
  return "captured";
}

TEST(Capture, WritesAreValues) {
  const auto writes = [](Inputs in) {
    const Tensor row = select(in[0], 0, 1);
    const Tensor before = neg(row);
    copy_(row, select(in[1], 0, 0));
    return add(before, row);
  };
  EXPECT_EQ(captured(writes, {empty({4, 3}), empty({4, 3})}),
            R"(x0 = input                                       f32[s0, 3]
x1 = input                                       f32[s0, 3]
%0 = select(x0, 0, 1)                            f32[3]
%1 = neg(%0)                                     f32[3]
%2 = select(x1, 0, 0)                            f32[3]
%3 = copy_(%0, %2, [%1])                         f32[s0, 3]
%4 = select(%3, 0, 1)                            f32[3]
%5 = add(%1, %4, 1)                              f32[3]
return %5
)");
}

TEST(Capture, RejectsUnsupportedFunctions) {
  const Tensor x = empty({4, 3});
  const auto reads = [](Inputs in) { return in[0].data<float>()[0] > 0 ? in[0] : neg(in[0]); };
  EXPECT_NE(capture_error(reads, {x}).find("[data] a meta tensor has no values"),
            std::string::npos);
  const auto writes = [](Inputs in) { return copy_(empty({4, 3}), in[0]); };
  EXPECT_NE(capture_error(writes, {x}).find("writes into a tensor of shape [4, 3] that it creates"),
            std::string::npos);
  const auto branches = [](Inputs in) { return in[0].size(0) > 100 ? neg(in[0]) : exp(in[0]); };
  EXPECT_NE(capture_error(branches, {x})
                .find("x0.size(0) decided which operators ran, or their arguments (it calls "
                      "aten::exp, but calls aten::neg "
                      "for other sizes): fix it with sizes = {{0, 0, Size::kFixed}}"),
            std::string::npos);
  const auto grows = [](Inputs in) { return add(in[0], full({4, 1}, 1)); };
  EXPECT_EQ(captured(grows, {x}).find("s0"), std::string::npos) << "the size is fixed";
  const auto wrong = [](Inputs in) { return mm(in[0], empty({5, 5})); };
  EXPECT_NE(capture_error(wrong, {x}).find("[mm] inner sizes differ"), std::string::npos);
}

TEST(Capture, RestoresThreadStateAfterError) {
  register_cpu_backend();
  const Tensor x = full({2, 2}, 1);
  EXPECT_THROW(captured([](Inputs in) { return mm(in[0], empty({5, 5})); }, {x}), Error);
  EXPECT_EQ(neg(x).data<float>()[0], -1);
}

TEST(Passes, MergeCommonChains) {
  const auto function = [](Inputs in) { return add(mul(neg(in[0]), 2.0), mul(neg(in[0]), 2.0)); };
  const Graph graph = capture(function, std::vector<Tensor>{empty({2, 3})}).graph;
  EXPECT_EQ(to_string(merge_common(graph)),
            "x0 = input                                       f32[s0, 3]\n"
            "%0 = neg(x0)                                     f32[s0, 3]\n"
            "%1 = mul(%0, 2)                                  f32[s0, 3]\n"
            "%2 = add(%1, %1, 1)                              f32[s0, 3]\n"
            "return %2\n");
}

TEST(Passes, FormAddmmWithGemmOnEitherSide) {
  for (const bool gemm_first : {true, false}) {
    const Tensor weight = empty({3, 4});
    const Tensor bias = empty({4});
    const auto function = [&](Inputs in) {
      const Tensor gemm = mm(in[0], weight);
      return gemm_first ? add(gemm, bias) : add(bias, gemm);
    };
    const Graph graph = capture(function, std::vector<Tensor>{empty({2, 3})}).graph;
    const std::string printed = to_string(form_addmm(graph));
    EXPECT_NE(printed.find("%0 = addmm(constant_1, x0, constant_0, 1, 1)"), std::string::npos)
        << printed;
    EXPECT_EQ(printed.find(" mm("), std::string::npos) << printed;
  }
}

TEST(Passes, KeepGemmWithOtherReaders) {
  const Tensor weight = empty({3, 3});
  const auto function = [&](Inputs in) {
    const Tensor gemm = mm(in[0], weight);
    return add(add(gemm, in[0]), gemm);
  };
  const Graph graph = capture(function, std::vector<Tensor>{empty({2, 3})}).graph;
  EXPECT_EQ(to_string(form_addmm(graph)), to_string(graph));
}

TEST(Passes, DoNotFormAddmmFromScaledOrLargerAdd) {
  const Tensor weight = empty({3, 3});
  const auto scaled = [&](Inputs in) { return add(mm(in[0], weight), in[0], 2); };
  const Tensor tall = empty({5, 1, 3});
  const auto grown = [&](Inputs in) { return add(mm(in[0], weight), tall); };
  for (const TensorFunction& function : {TensorFunction(scaled), TensorFunction(grown)}) {
    const Graph graph = capture(function, std::vector<Tensor>{empty({2, 3})}).graph;
    EXPECT_EQ(to_string(form_addmm(graph)), to_string(graph));
  }
}

TEST(Passes, FoldViewsIntoConsumers) {
  nn::GluMlp mlp(768, 3072, nn::GluActivation::kSilu);
  register_cpu_backend();
  nn::init_normal(mlp, 1);
  const auto forward = [&](Inputs inputs) { return mlp.forward(inputs[0]); };
  const std::vector<Tensor> inputs = {empty({2, 3, 768})};
  const Graph graph = capture(forward, inputs, with_parameters(mlp)).graph;
  EXPECT_EQ(to_string(fold_views(merge_common(graph))),
            R"(x = input                                        f32[s0, s1, 768]
gate_proj.weight = parameter                     f32[3072, 768]
%0 = mm(x{[s0*s1, 768]}, gate_proj.weight{[768, 3072] strides [1, 768]}) f32[s0*s1, 3072]
up_proj.weight = parameter                       f32[3072, 768]
%1 = mm(x{[s0*s1, 768]}, up_proj.weight{[768, 3072] strides [1, 768]}) f32[s0*s1, 3072]
%2 = silu(%0{[s0, s1, 3072]})                    f32[s0, s1, 3072]
%3 = mul(%2, %1{[s0, s1, 3072]})                 f32[s0, s1, 3072]
down_proj.weight = parameter                     f32[768, 3072]
%4 = mm(%3{[s0*s1, 3072]}, down_proj.weight{[3072, 768] strides [1, 3072]}) f32[s0*s1, 768]
%5 = _unsafe_view(%4, [s0, s1, 768])             f32[s0, s1, 768]
return %5
)");
}

TEST(Passes, FoldViewsAddsOffsets) {
  const auto function = [](Inputs in) { return neg(narrow(narrow(in[0], 1, 2, 8), 1, 3, 4)); };
  const Graph graph = capture(function, std::vector<Tensor>{empty({2, 16})}).graph;
  const std::string printed = to_string(fold_views(graph));
  EXPECT_NE(printed.find("neg(x0{[s0, 4] strides [16, 1] offset 5})"), std::string::npos)
      << printed;
}

TEST(Passes, DropDeadNodes) {
  const auto function = [](Inputs in) {
    exp(in[0]);
    return neg(in[0]);
  };
  const Graph graph = capture(function, std::vector<Tensor>{empty({2, 3})}).graph;
  EXPECT_EQ(graph.nodes.size(), 3U);
  EXPECT_EQ(to_string(drop_dead(graph)),
            "x0 = input                                       f32[s0, 3]\n"
            "%0 = neg(x0)                                     f32[s0, 3]\n"
            "return %0\n");
}

}  // namespace
}  // namespace epi::compiler
