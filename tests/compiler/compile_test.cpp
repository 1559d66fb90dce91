// SPDX-License-Identifier: Apache-2.0
// The public behavior of compiled functions: results, recompilation
// and its reasons, threads, traces.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "epilogue/compiler/plan/packing.h"
#include "epilogue/ops/hooks.h"
#include "tests/compiler/compile_helpers.h"

namespace epi {
namespace {

TEST(Compile, EveryFusionMatchesEager) {
  const nn::GluMlp mlp = small_mlp();
  const Tensor x = randn({3, 5, 16}, 2);
  for (const Fuse fuse : {Fuse::kNone, Fuse::kPointwise, Fuse::kEpilogue}) {
    const Compiled compiled = compile(mlp, {.fuse = fuse});
    expect_near(compiled(x), mlp.forward(x));
    expect_near(compiled(x), mlp.forward(x));
  }
}

TEST(Compile, BlockWithNormAndResidualMatchesEager) {
  const nn::GluMlp mlp = small_mlp();
  const Tensor scale = randn({16}, 5);
  const auto block = [&](const Tensor& x) { return add(x, mlp.forward(rms_norm(x, {16}, scale))); };
  const Compiled compiled = compile(std::function<Tensor(const Tensor&)>(block));
  for (const int64_t batch : {1, 2, 7}) {
    const Tensor x = randn({batch, 3, 16}, static_cast<uint64_t>(batch));
    expect_near(compiled(x), block(x));
  }
  EXPECT_EQ(compiled.recompiles(), 0);
}

TEST(Compile, LibraryKernelsRunBetweenFusedOnes) {
  register_cpu_backend();
  const Tensor weight = randn({8}, 1);
  const Tensor bias = randn({8}, 2);
  const auto function = [&](Inputs in) {
    const Tensor y = layer_norm(neg(in[0]), {8}, weight, bias);
    const Tensor parts[] = {softmax(y, -1), exp(y)};
    return add(cat(parts, -1), sum(mul(y, y), {1}, true));
  };
  const Compiled compiled = compile(compiler::TensorFunction(function));
  const std::vector<Tensor> inputs = {randn({6, 8}, 3)};
  expect_near(compiled(inputs), function(inputs));
}

TEST(Compile, RecompilesWithReasonButNotForBatchSize) {
  const nn::GluMlp mlp = small_mlp();
  const Compiled compiled([&](Inputs in) { return neg(mul(in[0], 2.0)); }, {}, {});
  compiled(empty({4, 16}));
  compiled(empty({1, 16}));
  compiled(empty({9, 16}));
  EXPECT_EQ(compiled.recompiles(), 0);
  compiled(empty({4, 17}));
  compiled(empty({4, 16}, {DType::kBF16, kCpu}));
  compiled(t(empty({17, 4})));
  compiled(empty({2, 4, 16}));
  const auto variants = compiled.variants();
  ASSERT_EQ(variants.size(), 5U);
  EXPECT_EQ(variants[0].reason, "first call");
  EXPECT_EQ(variants[1].reason, "dimension 1 of x is 17, was 16");
  EXPECT_EQ(variants[2].reason, "x is bf16, was f32");
  EXPECT_EQ(variants[3].reason, "x is f32, was bf16");
  EXPECT_EQ(variants[4].reason, "x has 3 dimensions, had 2");
  EXPECT_EQ(compiled.recompiles(), 4);
}

TEST(Compile, GuardsLayouts) {
  register_cpu_backend();
  const Compiled compiled([](Inputs in) { return exp(in[0]); }, {}, {});
  const Tensor x = randn({6, 4}, 1);
  expect_near(compiled(x), exp(x));
  const Tensor transposed = t(randn({4, 6}, 2));
  expect_near(compiled(transposed), exp(transposed));
  const Tensor longer = t(randn({4, 9}, 2));
  expect_near(compiled(longer), exp(longer));
  EXPECT_EQ(compiled.recompiles(), 1);
  const Tensor part = narrow(randn({6, 9}, 3), 1, 2, 4);
  expect_near(compiled(part), exp(part));
  EXPECT_EQ(compiled.variants()[1].reason, "x [6, 4] has strides [1, 6], had [4, 1]");
  EXPECT_EQ(compiled.recompiles(), 2);
}

TEST(Compile, StaticSizesRecompileUpToTheLimit) {
  register_cpu_backend();
  const Compiled compiled([](Inputs in) { return neg(in[0]); }, {},
                          {.dynamic = false, .max_variants = 2, .name = "negate"});
  compiled(empty({4, 3}));
  compiled(empty({5, 3}));
  compiled(empty({4, 3}));
  EXPECT_EQ(compiled.variants()[1].reason, "dimension 0 of x is 5, was 4");
  try {
    compiled(empty({6, 3}));
    FAIL() << "compiled a third variant";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("negate has reached its limit of 2 variants and needs another: "
                        "dimension 0 of x is 6, was 5"),
              std::string::npos)
        << error.what();
  }
}

TEST(Compile, GuardsEqualSizesOfInputs) {
  register_cpu_backend();
  const Compiled compiled([](Inputs in) { return add(in[0], in[1]); }, {}, {});
  compiled(std::vector<Tensor>{empty({4, 3}), empty({4, 3})});
  compiled(std::vector<Tensor>{empty({7, 3}), empty({7, 3})});
  EXPECT_EQ(compiled.recompiles(), 0);
  EXPECT_THROW(compiled(std::vector<Tensor>{empty({7, 3}), empty({6, 3})}), Error);
  const Tensor x = randn({7, 3}, 1);
  const Tensor row = randn({1, 3}, 2);
  expect_near(compiled(std::vector<Tensor>{x, row}), add(x, row));
}

TEST(Compile, EmptyBatchesGiveEmptyResults) {
  const nn::GluMlp mlp = small_mlp();
  const Compiled compiled = compile(mlp);
  compiled(randn({2, 16}, 1));
  EXPECT_EQ(compiled(empty({0, 16})).shape(), (Dims{0, 16}));
  EXPECT_EQ(compile(mlp)(empty({0, 16})).shape(), (Dims{0, 16}));
  const auto block = [&](const Tensor& x) { return mlp.forward(softmax(rms_norm(x, {16}), -1)); };
  for (const Fuse fuse : {Fuse::kNone, Fuse::kEpilogue}) {
    const Compiled whole = compile(std::function<Tensor(const Tensor&)>(block), {.fuse = fuse});
    EXPECT_EQ(whole(empty({0, 16})).shape(), (Dims{0, 16}));
    EXPECT_EQ(whole(empty({3, 16})).shape(), (Dims{3, 16}));
  }
}

TEST(Compile, ReturnsInputsAndParameters) {
  register_cpu_backend();
  Tensor w = randn({3}, 1);
  const Tensor x = randn({2, 3}, 2);
  expect_near(
      compile(std::function<Tensor(const Tensor&)>([](const Tensor& y) { return t(y); }))(x), t(x));
  expect_near(compile(std::function<Tensor(const Tensor&)>([&](const Tensor&) { return w; }))(x),
              w);
}

TEST(Compile, RunsFromSeveralThreads) {
  const nn::GluMlp mlp = small_mlp();
  const Compiled compiled = compile(mlp);
  std::vector<std::thread> threads;
  std::array<bool, 4> same{};
  for (size_t i = 0; i < same.size(); ++i) {
    threads.emplace_back([&, i] {
      bool all = true;
      for (int64_t rows = 1; rows < 20; ++rows) {
        const Tensor x = randn({rows, 16}, i);
        const Tensor a = compiled(x);
        const Tensor b = mlp.forward(x);
        for (int64_t j = 0; j < a.numel(); ++j) {
          all = all && std::fabs(a.data<float>()[j] - b.data<float>()[j]) < 1e-5F;
        }
      }
      same[i] = all;
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const bool one : same) EXPECT_TRUE(one);
  EXPECT_EQ(compiled.variants().size(), 1U);
}

class RowListener : public Listener {
 public:
  void op_begin(Op op, Args) override { rows.emplace_back(op_info(op).name); }
  void op_end(Op) override {}
  void annotation_begin(std::string_view name) override { rows.emplace_back(name); }
  void annotation_end() override {}
  void launch_begin(const LaunchCost&) override {}
  void launch_end() override {}
  void kernel(const KernelRun& run) override {
    rows.push_back("> " + std::string(run.name));
    bytes += run.bytes;
    flops += run.flops;
  }
  std::vector<std::string> rows;
  int64_t bytes = 0;
  int64_t flops = 0;
};

TEST(Compile, TraceHasGuardsRegionAndKernels) {
  const nn::GluMlp mlp = small_mlp();
  const Compiled compiled = compile(mlp, {.fuse = Fuse::kPointwise, .name = "mlp"});
  const Tensor x = randn({2, 16}, 1);
  static RowListener first;
  set_listener(&first);
  compiled(x);
  set_listener(nullptr);
  ASSERT_GE(first.rows.size(), 3U);
  EXPECT_EQ(first.rows[0], "Epilogue Guards");
  EXPECT_EQ(first.rows[1], "Epilogue Compile: mlp/0 (first call)");
  EXPECT_EQ(first.rows[2], "Epilogue-Compiled Region: mlp/0") << "captured operators must not run";
  static RowListener later;
  set_listener(&later);
  compiled(x);
  set_listener(nullptr);
  EXPECT_EQ(later.rows,
            (std::vector<std::string>{"Epilogue Guards", "Epilogue-Compiled Region: mlp/0",
                                      "aten::mm", "> gemv_f32_tn", "aten::mm", "> gemv_f32_tn",
                                      "> epi_poi_fused_gelu_mul_0", "aten::mm", "> gemv_f32_tn"}));
  // Three GEMMs, and two operations per element of the hidden layer.
  EXPECT_EQ(later.flops, 3 * 2 * 2 * 16 * 32 + 2 * 2 * 32);
}

TEST(Compile, FusedKernelReadsAndWritesEachValueOnce) {
  const nn::GluMlp mlp = small_mlp();
  const Compiled compiled = compile(mlp);
  const Tensor x = randn({2, 16}, 1);
  compiled(x);
  static RowListener listener;
  set_listener(&listener);
  compiled(x);
  set_listener(nullptr);
  const int64_t weights = 3 * 16 * 32;
  const int64_t between = 2 * (2 * 32);  // written, then read
  EXPECT_EQ(listener.bytes, 4 * (2 * 16 + weights + between + 2 * 16));
}

TEST(Compile, HandlesViewsOfResultsInSameKernel) {
  const Tensor w = randn({16, 16}, 1);
  const Tensor x = randn({16, 16}, 2);
  expect_compiled_equals(
      [](const Tensor& y) {
        const Tensor a = exp(y);
        return add(a, narrow(a, 1, 15, 1));
      },
      x);
  expect_compiled_equals(
      [&](const Tensor& y) {
        const Tensor a = gelu(mm(y, w));
        return mul(a, narrow(a, 1, 0, 1));
      },
      x);
  expect_compiled_equals(
      [](const Tensor& y) {
        const Tensor a = view(exp(y), {y.size(0), 4, 4});
        return mul(a, transpose(a, 1, 2));
      },
      x);
}

TEST(Compile, MultipliesTwoInputs) {
  register_cpu_backend();
  const auto function = [](Inputs in) { return relu(add(mm(in[0], in[1]), in[2])); };
  const Compiled compiled{compiler::TensorFunction(function), {}, {}};
  for (const int64_t rows : {4, 6}) {
    const std::vector<Tensor> inputs = {randn({rows, 8}, 1), randn({8, 5}, 2), randn({5}, 3)};
    expect_near(compiled(inputs), function(inputs));
  }
  EXPECT_EQ(compiled.recompiles(), 0);
}

TEST(Compile, ResultsDoNotAliasInputs) {
  register_cpu_backend();
  const Tensor x = randn({4, 8}, 1);
  const auto same = [](const Tensor& y) { return t(sub(mul(y, 1.0), 0.0)); };
  const Tensor y = compile(std::function<Tensor(const Tensor&)>(same))(x);
  EXPECT_NE(y.storage(), x.storage());
  expect_near(y, t(x));
  const Tensor zero = full({1, 4}, -0.0);
  const auto shifted = [](const Tensor& z) { return neg(sub(z, -0.0)); };
  const Tensor negated = compile(std::function<Tensor(const Tensor&)>(shifted))(zero);
  EXPECT_EQ(std::signbit(negated.data<float>()[0]), std::signbit(shifted(zero).data<float>()[0]));
}

TEST(Compile, InlinesNestedCompiledFunctions) {
  const nn::GluMlp mlp = small_mlp();
  const Compiled inner = compile(mlp);
  const auto outer = [&](const Tensor& x) { return add(x, inner(x)); };
  const Tensor x = randn({3, 16}, 1);
  const Compiled compiled = compile(std::function<Tensor(const Tensor&)>(outer));
  expect_near(compiled(x), add(x, mlp.forward(x)));
  EXPECT_EQ(compiled.variants()[0].kernels.size(), 2U);
}

TEST(Compile, RejectsUndefinedMetaAndTooManyTensors) {
  register_cpu_backend();
  const Compiled compiled([](Inputs in) { return neg(in[0]); }, {}, {});
  EXPECT_THROW(compiled(Tensor()), Error);
  const Tensor meta = empty({2, 2}, {DType::kF32, kMeta});
  EXPECT_EQ(message_of([&] { compiled(meta); }), "[compile] input 0 is on meta: it has no values");
  const Compiled nothing([](Inputs) { return Tensor(); }, {}, {});
  EXPECT_THROW(nothing(empty({2, 2})), Error);
  std::vector<Tensor> many;
  for (int64_t i = 0; i < 40; ++i) many.push_back(empty({i + 2, 3}));
  const Compiled first([](Inputs in) { return neg(in[0]); }, {}, {});
  EXPECT_EQ(first(many).shape(), (Dims{2, 3})) << "the sizes beyond the limit are fixed";
}

TEST(Compile, CodeSaysWhatEachFunctionComputes) {
  const Compiled compiled = compile(small_mlp());
  compiled(randn({3, 16}, 1));
  const VariantInfo info = compiled.variants()[0];
  ASSERT_EQ(info.kernel_code.size(), info.kernels.size());
  ASSERT_EQ(info.kernels.size(), 2U);
  for (size_t i = 0; i < info.kernels.size(); ++i) {
    EXPECT_NE(info.code.find(info.kernel_code[i]), std::string::npos);
    EXPECT_NE(info.kernel_code[i].find("@" + info.kernels[i] + "("), std::string::npos);
    size_t functions = 0;
    size_t comments = 0;
    for (size_t at = 0; (at = info.kernel_code[i].find("define ", at)) != std::string::npos; ++at) {
      ++functions;
    }
    for (size_t at = 0; (at = info.kernel_code[i].find("; ", at)) != std::string::npos; ++at) {
      ++comments;
    }
    EXPECT_EQ(comments, functions) << info.kernels[i];
  }
  EXPECT_EQ(info.kernel_code[1].find("; mm: "), 0U) << info.kernel_code[1].substr(0, 80);
}

TEST(Compile, RejectsEmptyFunctionsAndLimits) {
  EXPECT_THROW(Compiled(compiler::TensorFunction(), {}, {}), Error);
  EXPECT_THROW(compile(small_mlp(), {.max_variants = 0}), Error);
}

TEST(Compile, NestedFunctionsCheckTheirInputs) {
  register_cpu_backend();
  const Tensor x = randn({2, 3}, 1);
  const Compiled inner([](Inputs in) { return add(in[0], in[1]); }, {}, {.name = "inner"});
  inner(std::vector<Tensor>{x, x});
  const Compiled outer([=](Inputs in) { return inner(in); }, {}, {});
  EXPECT_NE(message_of([&] { outer(x); }).find("inner takes 2 inputs, not 1"), std::string::npos);
}

// Weights are packed, stacked, or folded into the code: each is read again after a write.
TEST(Compile, WeightsThatChangeArePackedAgain) {
  const nn::GluMlp mlp = small_mlp();
  const Compiled compiled = compile(mlp, {.max_variants = 1});
  const Compiled unfused = compile(mlp, {.fuse = Fuse::kPointwise, .max_variants = 1});
  const Tensor x = randn({3, 16}, 1);
  for (int change = 0; change < 3; ++change) {
    expect_near(compiled(x), mlp.forward(x));
    expect_near(unfused(x), mlp.forward(x));
    copy_(narrow(mlp.up_proj.weight, 0, change, 1), randn({1, 16}, 7));
  }
  expect_near(compiled(x), mlp.forward(x));
  EXPECT_EQ(compiled.variants().size(), 1U);
  EXPECT_EQ(compiled.recompiles(), 3);
  EXPECT_EQ(compiled.variants()[0].reason, "the parameter up_proj.weight was written");

  const Tensor scale = full({}, 2);
  const Compiled scaled([=](Inputs in) { return mul(in[0], scale); }, {{"scale", scale}}, {});
  expect_near(scaled(x), mul(x, 2.0));
  copy_(scale, full({}, 3));
  expect_near(scaled(x), mul(x, 3.0));
}

TEST(Compile, FunctionsShareOnePackedCopyOfTheWeights) {
  register_cpu_backend();
  compiler::GemmCode code;
  code.dtype = DType::kF32;
  code.n = 20;
  code.k = 16;
  const compiler::GemmTile tile{compiler::GemmKind::kVectors, 4, 8};
  const Tensor weight = randn({16, 20}, 1);
  const auto first = compiler::find_packed_weights(code, tile, {weight});
  EXPECT_EQ(first, compiler::find_packed_weights(code, tile, {weight}));
  EXPECT_NE(first, compiler::find_packed_weights(code, tile, {randn({16, 20}, 1)}));
  compiler::GemmTile wider = tile;
  wider.columns = 16;
  EXPECT_NE(first, compiler::find_packed_weights(code, wider, {weight}));
  copy_(weight, randn({16, 20}, 2));
  EXPECT_NE(first, compiler::find_packed_weights(code, tile, {weight}));
}

TEST(Compile, DoesNotPackWeightsSlicedByBatchSize) {
  const Tensor w = randn({8, 5000}, 1);
  const auto function = [&](const Tensor& y) { return mm(y, narrow(w, 1, 0, y.size(0))); };
  register_cpu_backend();
  const Compiled compiled = compile(std::function<Tensor(const Tensor&)>(function));
  for (const int64_t rows : {4, 7, 16}) {
    const Tensor x = randn({rows, 8}, 3);
    expect_near(compiled(x), function(x));
  }
}

}  // namespace
}  // namespace epi
