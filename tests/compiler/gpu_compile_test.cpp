// SPDX-License-Identifier: Apache-2.0
// Compiled functions on a GPU match eager mode for every size, launched
// kernel by kernel and as a CUDA graph.
#include <gtest/gtest.h>

#ifdef EPI_HAS_CUDA

#include <cmath>
#include <thread>

#include "epilogue/compiler/compile.h"
#include "epilogue/cuda/allocator.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/cuda/with_device.h"

namespace epi {
namespace {

class GpuCompile : public cuda::WithDevice {
 protected:
  static nn::GluMlp make_mlp(DType dtype, nn::GluActivation activation) {
    nn::GluMlp mlp(64, 192, activation, false, dtype);
    nn::init_normal(mlp, 1);
    mlp.to(kCuda);
    return mlp;
  }

  // Fused, h is not rounded between the activation and the GEMM. One rounding of h, summed over 192
  // terms with weights near 1 / sqrt(192), is far below 8 roundings of a result near one.
  static void expect_near(const Tensor& got, const Tensor& want) {
    ASSERT_EQ(got.shape(), want.shape());
    const Tensor x = to(contiguous(to(got, kCpu)), DType::kF64);
    const Tensor y = to(contiguous(to(want, kCpu)), DType::kF64);
    const double rounding = got.dtype() == DType::kF32    ? 0x1p-20
                            : got.dtype() == DType::kBF16 ? 0x1p-5
                                                          : 0x1p-8;
    for (int64_t i = 0; i < x.numel(); ++i) {
      ASSERT_NEAR(x.data<double>()[i], y.data<double>()[i], rounding) << i;
    }
  }
};

TEST_F(GpuCompile, EveryFusionMatchesEagerForEverySize) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    const nn::GluMlp mlp = make_mlp(dtype, nn::GluActivation::kGeluTanh);
    for (const Fuse fuse : {Fuse::kNone, Fuse::kPointwise, Fuse::kEpilogue}) {
      for (const bool graph : {false, true}) {
        const Compiled compiled = compile(mlp, {.fuse = fuse, .graph = graph});
        for (const int64_t m : {3, 1, 2, 7, 64, 513, 3}) {
          const Tensor x = randn({m, 64}, static_cast<uint64_t>(m), {dtype, kCuda});
          for (int call = 0; call < 3; ++call) expect_near(compiled(x), mlp.forward(x));
        }
        EXPECT_EQ(compiled.recompiles(), 0) << name(dtype);
      }
    }
  }
}

TEST_F(GpuCompile, MlpIsGemmsAndOneFusedKernel) {
  const nn::GluMlp mlp = make_mlp(DType::kBF16, nn::GluActivation::kGeluTanh);
  const Tensor x = randn({2, 5, 64}, 1, {DType::kBF16, kCuda});
  const std::string fused = "epi_poi_fused__unsafe_view_gelu_mul_0";
  const Compiled pointwise = compile(mlp, {.fuse = Fuse::kPointwise});
  pointwise(x);
  EXPECT_EQ(pointwise.variants()[0].kernels,
            (std::vector<std::string>{"aten::mm", "aten::mm", fused, "aten::mm"}));
  // f32 GEMMs stay with the library, and the compiler stacks gate and up into one GEMM.
  const nn::GluMlp wide_mlp = make_mlp(DType::kF32, nn::GluActivation::kGeluTanh);
  const Compiled stacked = compile(wide_mlp);
  stacked(randn({2, 5, 64}, 1, {DType::kF32, kCuda}));
  EXPECT_EQ(stacked.variants()[0].kernels,
            (std::vector<std::string>{"aten::mm", fused, "aten::mm"}));
}

TEST_F(GpuCompile, MatmulAndAddAreOneKernel) {
  const Tensor w = randn({64, 64}, 1, {DType::kBF16, kCuda});
  const auto function = [w](std::span<const Tensor> in) { return add(matmul(in[0], w), in[1]); };
  const Compiled compiled(function, {{"w", w}}, {});
  const std::vector<Tensor> inputs = {randn({64, 64}, 2, {DType::kBF16, kCuda}),
                                      randn({64, 64}, 3, {DType::kBF16, kCuda})};
  expect_near(mul(compiled(inputs), 0.0625), mul(function(inputs), 0.0625));
  EXPECT_EQ(compiled.variants()[0].kernels, (std::vector<std::string>{"aten::addmm"}));
}

// gelu(x) is near one here. The error of the library's tanh (2^-11) and
// the missing rounding are below 2^-5.
TEST_F(GpuCompile, FusesBiasAndActivationIntoLibraryGemm) {
  // [k, n], unlike the weight of a linear.
  const Tensor w = mul(randn({64, 64}, 1, {DType::kBF16, kCuda}), 0.125);
  const Tensor b = randn({64}, 2, {DType::kBF16, kCuda});
  for (const bool by_gelu : {false, true}) {
    const auto function = [=](std::span<const Tensor> in) {
      const Tensor sum = addmm(b, in[0], w);
      return by_gelu ? gelu(sum, "tanh") : relu(sum);
    };
    for (const bool graph : {false, true}) {
      const Compiled compiled(function, {{"w", w}, {"b", b}}, {.graph = graph});
      for (const int64_t m : {5, 1, 128}) {
        const std::vector<Tensor> x = {randn({m, 64}, 3, {DType::kBF16, kCuda})};
        for (int call = 0; call < 3; ++call) expect_near(compiled(x), function(x));
      }
      EXPECT_EQ(compiled.variants()[0].kernels,
                std::vector<std::string>{"aten::_addmm_activation"});
    }
  }
}

// On one stream, a kernel may start while the previous one ends. The transposed operand prevents
// fusion: it is read in another order than it was written.
TEST_F(GpuCompile, OverlappingKernelsReadCompleteResults) {
  const auto function = [](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 6; ++i) y = add(mul(t(y), 0.5), y);
    return y;
  };
  const Tensor x = randn({1024, 1024}, 1, {DType::kF32, kCuda});
  const Tensor want = mul(function(x), 0x1p-6);
  for (const bool graph : {false, true}) {
    const Compiled compiled =
        compile(std::function<Tensor(const Tensor&)>(function), {.dynamic = false, .graph = graph});
    for (int call = 0; call < 5; ++call) expect_near(mul(compiled(x), 0x1p-6), want);
    const auto kernels = compiled.variants()[0].kernels;
    EXPECT_GE(kernels.size(), 4);
    for (const std::string& kernel : kernels) EXPECT_TRUE(kernel.starts_with("epi_poi")) << kernel;
  }
}

TEST_F(GpuCompile, GraphAcceptsNewAddressesAndKeepsResults) {
  const nn::GluMlp mlp = make_mlp(DType::kF32, nn::GluActivation::kSilu);
  const Compiled compiled = compile(mlp, {.graph = true});
  std::vector<Tensor> inputs;
  std::vector<Tensor> results;
  for (uint64_t seed = 0; seed < 12; ++seed) {  // more addresses than graphs in the cache
    inputs.push_back(randn({9, 64}, seed, {DType::kF32, kCuda}));
    results.push_back(compiled(inputs.back()));
  }
  for (size_t i = 0; i < inputs.size(); ++i) expect_near(results[i], mlp.forward(inputs[i]));
}

// The exponentials of bf16 and f16 reach their largest values near -10.06 and -88.9.
TEST_F(GpuCompile, ActivationsMatchForEverySixteenBitNumber) {
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const Tensor patterns = empty({65536}, {dtype, kCpu});
    auto* bits = reinterpret_cast<uint16_t*>(patterns.raw_data());
    for (int i = 0; i < 65536; ++i) bits[i] = static_cast<uint16_t>(i);
    const Tensor x = to(patterns, kCuda);
    const Tensor inputs = to(patterns, DType::kF64);
    for (const auto& op :
         {+[](const Tensor& y) { return gelu(y, "tanh"); },
          +[](const Tensor& y) { return silu(y); }, +[](const Tensor& y) { return sigmoid(y); }}) {
      const Compiled compiled = compile(std::function<Tensor(const Tensor&)>(op));
      const Tensor got = to(to(compiled(x), kCpu), DType::kF64);
      const Tensor want = to(op(to(to(x, kCpu), DType::kF64)), DType::kF64);
      for (int64_t i = 0; i < 65536; ++i) {
        const double value = want.data<double>()[i];
        const double in = inputs.data<double>()[i];
        if (std::isnan(value) || std::isinf(in)) continue;
        // One rounding to 16 bits. Below the smallest normal number a result may become zero.
        const double rounding = dtype == DType::kBF16 ? 0x1p-8 : 0x1p-10;
        const double vanishing = dtype == DType::kBF16 ? 0x1p-119 : 0x1p-24;
        ASSERT_NEAR(got.data<double>()[i], value, rounding * std::abs(value) + vanishing) << in;
      }
    }
  }
}

TEST_F(GpuCompile, KeepsGraphsOfSeveralSizes) {
  const nn::GluMlp mlp = make_mlp(DType::kBF16, nn::GluActivation::kGeluTanh);
  const Compiled compiled = compile(mlp, {.graph = true});
  for (int round = 0; round < 4; ++round) {
    for (const int64_t m : {1, 16, 0, 5}) {
      const Tensor x = randn({m, 64}, 1, {DType::kBF16, kCuda});
      expect_near(compiled(x), mlp.forward(x));
    }
  }
  EXPECT_EQ(compiled.recompiles(), 0);
}

TEST_F(GpuCompile, RunsOnCallersStreamAndInCallersCapture) {
  const nn::GluMlp mlp = make_mlp(DType::kBF16, nn::GluActivation::kGeluTanh);
  for (const bool with_graph : {false, true}) {
    const Compiled compiled = compile(mlp, {.graph = with_graph});
    const Tensor x = randn({8, 64}, 3, {DType::kBF16, kCuda});
    const cuda::Stream stream = cuda::Stream::create();
    cuda::GraphMemory memory;
    const cuda::StreamGuard guard(stream);
    expect_near(compiled(x), mlp.forward(x));
    expect_near(compiled(x), mlp.forward(x));
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t replay = nullptr;
    Tensor y;
    ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
    {
      const cuda::GraphMemory::Use use(memory);
      y = compiled(x);
    }
    ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
    copy_(x, randn({8, 64}, 4, {DType::kBF16, kCpu}));
    ASSERT_EQ(cudaGraphLaunch(replay, stream.get()), cudaSuccess);
    expect_near(y, mlp.forward(x));
    cudaGraphExecDestroy(replay);
    cudaGraphDestroy(graph);
  }
}

TEST_F(GpuCompile, CallerCanCaptureNewSize) {
  const nn::GluMlp mlp = make_mlp(DType::kBF16, nn::GluActivation::kSilu);
  const Compiled compiled = compile(mlp, {.graph = true});
  const Tensor warm = randn({8, 64}, 3, {DType::kBF16, kCuda});
  expect_near(compiled(warm), mlp.forward(warm));
  const Tensor x = randn({24, 64}, 5, {DType::kBF16, kCuda});
  const Tensor want = mlp.forward(x);  // loads the kernels of cuBLASLt
  const cuda::Stream stream = cuda::Stream::create();
  cuda::synchronize();
  cuda::GraphMemory memory;
  const cuda::StreamGuard guard(stream);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  Tensor y;
  ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
  {
    const cuda::GraphMemory::Use use(memory);
    y = compiled(x);
  }
  ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(replay, stream.get()), cudaSuccess);
  expect_near(y, want);
  EXPECT_EQ(compiled.recompiles(), 0);
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

TEST_F(GpuCompile, ThreadsOnSeparateStreamsShareOneFunction) {
  const nn::GluMlp mlp = make_mlp(DType::kBF16, nn::GluActivation::kGeluTanh);
  for (const bool graph : {false, true}) {
    const Compiled compiled = compile(mlp, {.graph = graph});
    const auto work = [&](uint64_t seed) {
      const cuda::StreamGuard guard(cuda::Stream::create());
      const Tensor x = randn({static_cast<int64_t>(8 + seed % 2), 64}, seed, {DType::kBF16, kCuda});
      for (int call = 0; call < 50; ++call) expect_near(compiled(x), mlp.forward(x));
    };
    std::vector<std::thread> threads;
    for (uint64_t seed = 1; seed <= 4; ++seed) threads.emplace_back(work, seed);
    for (std::thread& thread : threads) thread.join();
  }
}

// Row lengths that are not a multiple of a vector, at an address that is not aligned to one.
TEST_F(GpuCompile, HandlesOddSizesAndMisalignedInputs) {
  nn::GluMlp mlp(37, 51, nn::GluActivation::kSilu, false, DType::kBF16);
  nn::init_normal(mlp, 1);
  mlp.to(kCuda);
  for (const bool graph : {false, true}) {
    const Compiled compiled = compile(mlp, {.graph = graph});
    const Tensor flat = randn({1 + 9 * 37}, 2, {DType::kBF16, kCuda});
    const Tensor x = view(slice(flat, 0, 1, 1 + 9 * 37), {9, 37});
    for (int call = 0; call < 3; ++call) expect_near(compiled(x), mlp.forward(x));
  }
}

// More than 2^31 elements are split into several launches with different base addresses.
TEST_F(GpuCompile, HandlesMoreElementsThan32BitIndices) {
  constexpr int64_t kRows = 70'000;
  constexpr int64_t kColumns = 32'768;
  const Tensor row = randn({1, kColumns}, 1, {DType::kBF16, kCuda});
  const Tensor x = expand(row, {kRows, kColumns});
  const auto function = [](const Tensor& y) { return mul(add(y, 1), 2); };
  const Tensor got = compile(std::function<Tensor(const Tensor&)>(function))(x);
  const Tensor want = function(row);
  for (const int64_t at : {int64_t{0}, int64_t{65'535}, int64_t{65'536}, kRows - 1}) {
    expect_near(mul(slice(got, 0, at, at + 1), 0.0625), mul(want, 0.0625));
  }
}

TEST_F(GpuCompile, RejectsTensorsOfTwoDevices) {
  const nn::GluMlp mlp = make_mlp(DType::kF32, nn::GluActivation::kSilu);
  EXPECT_THROW(compile(mlp)(randn({2, 64}, 1)), Error);
}

TEST_F(GpuCompile, EmptyBatchGivesEmptyResult) {
  const nn::GluMlp mlp = make_mlp(DType::kF32, nn::GluActivation::kSilu);
  const Compiled compiled = compile(mlp);
  compiled(randn({2, 64}, 1, {DType::kF32, kCuda}));
  EXPECT_EQ(compiled(empty({0, 64}, {DType::kF32, kCuda})).shape(), (Dims{0, 64}));
}

}  // namespace
}  // namespace epi

#endif
