// SPDX-License-Identifier: Apache-2.0
// epilogue/glu.h: errors on any machine, results on a Hopper GPU.
#include "epilogue/glu.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#ifdef EPI_HAS_CUDA
#include <cmath>
#include <thread>

#include "epilogue/cuda/cuda_device.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/cuda/with_device.h"
#endif

namespace epi {
namespace {

epi_glu_block block_of(epi_glu_activation activation, int64_t k, int64_t n, int64_t out) {
  epi_glu_block block{};
  block.struct_size = sizeof block;
  block.dtype = EPI_GLU_BF16;
  block.activation = activation;
  block.k = k;
  block.n = n;
  block.out = out;
  return block;
}

TEST(GluFromC, RejectsUnsupportedDeviceAndDType) {
  epi_glu* glu = nullptr;
  epi_glu_block block = block_of(EPI_GLU_SILU, 64, 128, 64);
  block.device = 99;
  EXPECT_EQ(epi_glu_create(&block, &glu), EPI_GLU_UNSUPPORTED);
  EXPECT_EQ(glu, nullptr);
  block.device = 0;
  constexpr int kUnknown = 7;
  std::memcpy(&block.dtype, &kUnknown, sizeof kUnknown);
  EXPECT_EQ(epi_glu_create(&block, &glu), EPI_GLU_UNSUPPORTED);
  block.struct_size = 4;
  EXPECT_EQ(epi_glu_create(&block, &glu), EPI_GLU_UNSUPPORTED);
  EXPECT_STREQ(epi_glu_message(), "");
  for (int status = 0; status <= EPI_GLU_FAILED; ++status) {
    EXPECT_GT(std::string(epi_glu_status_text(static_cast<epi_glu_status>(status))).size(), 3U);
  }
  epi_glu_destroy(nullptr);
}

#ifdef EPI_HAS_CUDA

constexpr TensorOptions kBf16{DType::kBF16, kCuda};

Tensor wide(const Tensor& t) { return to(to(t, kCpu), DType::kF64); }

// A block with random weights on the GPU, and its result in float64.
struct Block {
  explicit Block(const epi_glu_block& given, TensorOptions options = kBf16)
      : block(given),
        gate(mul(randn({given.n, given.k}, 1, options), 0.125)),
        up(mul(randn({given.n, given.k}, 2, options), 0.125)),
        down(mul(randn({given.out, given.n}, 3, options), 0.0625)),
        gate_bias(randn({given.n}, 4, options)),
        up_bias(randn({given.n}, 5, options)),
        down_bias(randn({given.out}, 6, options)) {}

  bool has(epi_glu_bias bias) const { return (block.biases & bias) != 0; }

  Tensor expected(const Tensor& x) const {
    const auto product = [](const Tensor& a, const Tensor& weight, const Tensor* bias) {
      const Tensor sums = linear(wide(a), wide(weight));
      return bias == nullptr ? sums : add(sums, wide(*bias));
    };
    const Tensor g = product(x, gate, has(EPI_GLU_GATE_BIAS) ? &gate_bias : nullptr);
    const Tensor u = product(x, up, has(EPI_GLU_UP_BIAS) ? &up_bias : nullptr);
    const Tensor active = block.activation == EPI_GLU_GELU_TANH  ? gelu(g, "tanh")
                          : block.activation == EPI_GLU_SILU     ? silu(g)
                          : block.activation == EPI_GLU_GELU_ERF ? gelu(g)
                                                                 : relu(g);
    return product(mul(active, u), down, has(EPI_GLU_DOWN_BIAS) ? &down_bias : nullptr);
  }

  epi_glu_call call(const Tensor& x, const Tensor& y, const Tensor& workspace) const {
    epi_glu_call call{};
    call.struct_size = sizeof call;
    call.stream = cuda::current_stream().get();
    call.m = x.size(0);
    call.x = x.raw_data();
    call.x_stride = x.stride(0);
    call.gate = gate.raw_data();
    call.up = up.raw_data();
    call.down = down.raw_data();
    if (has(EPI_GLU_GATE_BIAS)) call.gate_bias = gate_bias.raw_data();
    if (has(EPI_GLU_UP_BIAS)) call.up_bias = up_bias.raw_data();
    if (has(EPI_GLU_DOWN_BIAS)) call.down_bias = down_bias.raw_data();
    call.y = y.raw_data();
    call.workspace = workspace.raw_data();
    call.workspace_bytes = static_cast<size_t>(workspace.size_bytes());
    return call;
  }

  epi_glu_block block;
  Tensor gate, up, down, gate_bias, up_bias, down_bias;
};

double relative_error(const Tensor& got, const Tensor& want) {
  double apart = 0;
  double whole = 0;
  const Tensor values = wide(got);
  for (int64_t i = 0; i < want.numel(); ++i) {
    apart += std::pow(values.data<double>()[i] - want.data<double>()[i], 2);
    whole += std::pow(want.data<double>()[i], 2);
  }
  return std::sqrt(apart / whole);
}

Tensor workspace_for(const epi_glu* glu, int64_t m, epi_glu_path path) {
  return empty({static_cast<int64_t>(epi_glu_workspace_bytes(glu, m, path) / 2)}, kBf16);
}

class GpuGluFromC : public cuda::WithDevice {
 protected:
  void SetUp() override {
    cuda::WithDevice::SetUp();
    if (IsSkipped()) return;
    epi_glu* glu = nullptr;
    const epi_glu_block block = block_of(EPI_GLU_SILU, 64, 128, 64);
    const epi_glu_status status = epi_glu_create(&block, &glu);
    epi_glu_destroy(glu);
    if (status == EPI_GLU_UNSUPPORTED) GTEST_SKIP() << epi_glu_status_text(status);
    ASSERT_EQ(status, EPI_GLU_OK);
  }
  void TearDown() override {
    for (epi_glu* glu : handles_) epi_glu_destroy(glu);
  }
  epi_glu* prepared(const epi_glu_block& block) {
    epi_glu* glu = nullptr;
    EXPECT_EQ(epi_glu_create(&block, &glu), EPI_GLU_OK);
    handles_.push_back(glu);
    EXPECT_EQ(epi_glu_prepare(glu), EPI_GLU_OK) << epi_glu_message();
    return glu;
  }
  std::vector<epi_glu*> handles_;
};

// Every activation, with and without biases, on both paths, for sizes around the tiles, with an
// output width of its own and with rows of x that are not adjacent.
TEST_F(GpuGluFromC, MatchesFloat64) {
  for (const auto activation : {EPI_GLU_GELU_TANH, EPI_GLU_SILU, EPI_GLU_GELU_ERF, EPI_GLU_RELU}) {
    for (const uint32_t biases : {0U, 7U, 2U}) {
      epi_glu_block given = block_of(activation, 72, 200, 104);
      given.biases = biases;
      epi_glu* glu = prepared(given);
      const Block block(given);
      for (const int64_t m : {1, 9, 17, 64, 65, 300, 1100}) {
        const Tensor rows = randn({m, 2 * given.k}, 7, kBf16);
        const Tensor x = slice(rows, 1, 0, given.k);
        const Tensor want = block.expected(x);
        for (const auto path :
             {EPI_GLU_AUTO, EPI_GLU_CUSTOM, EPI_GLU_LIBRARY, EPI_GLU_LIBRARY_DOWN}) {
          const Tensor y = full({m, given.out}, NAN, kBf16);
          const Tensor workspace = workspace_for(glu, m, path);
          epi_glu_call call = block.call(x, y, workspace);
          call.path = path;
          ASSERT_EQ(epi_glu_run(glu, &call), EPI_GLU_OK) << epi_glu_message();
          // Rounding of gate and up (in the library), h and y.
          EXPECT_LT(relative_error(y, want), path == EPI_GLU_CUSTOM ? 0x1p-8 : 0x1p-7)
              << "m " << m << " activation " << activation << " biases " << biases << " path "
              << path;
        }
      }
    }
  }
}

// y may be x, also where one kernel computes the block.
TEST_F(GpuGluFromC, ResultMayReplaceTheInput) {
  const epi_glu_block given = block_of(EPI_GLU_SILU, 64, 256, 64);
  epi_glu* glu = prepared(given);
  const Block block(given);
  for (const int64_t m : {1, 128, 1000}) {
    const Tensor x = randn({m, 64}, 7, kBf16);
    const Tensor want = block.expected(x);
    const Tensor workspace = workspace_for(glu, m, EPI_GLU_AUTO);
    const epi_glu_call call = block.call(x, x, workspace);
    ASSERT_EQ(epi_glu_run(glu, &call), EPI_GLU_OK) << epi_glu_message();
    EXPECT_LT(relative_error(x, want), 0x1p-7) << m;
  }
}

// The graph runs after the handle is destroyed, in f16.
TEST_F(GpuGluFromC, GraphsOutliveTheHandle) {
  epi_glu_block given = block_of(EPI_GLU_SILU, 64, 128, 64);
  given.dtype = EPI_GLU_F16;
  epi_glu* glu = nullptr;
  ASSERT_EQ(epi_glu_create(&given, &glu), EPI_GLU_OK);
  ASSERT_EQ(epi_glu_prepare(glu), EPI_GLU_OK) << epi_glu_message();
  const TensorOptions options{DType::kF16, kCuda};
  const Block block(given, options);
  for (const auto path : {EPI_GLU_CUSTOM, EPI_GLU_LIBRARY}) {
    const Tensor x = randn({20, 64}, 1, options);
    const Tensor y = full({20, 64}, NAN, options);
    const Tensor workspace = workspace_for(glu, 20, path);
    const cuda::Stream stream = cuda::Stream::create();
    cuda::synchronize();
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
    epi_glu_call call = block.call(x, y, workspace);
    call.stream = stream.get();
    call.path = path;
    EXPECT_EQ(epi_glu_run(glu, &call), EPI_GLU_OK) << epi_glu_message();
    ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    if (path == EPI_GLU_LIBRARY) epi_glu_destroy(glu);
    ASSERT_EQ(cudaGraphLaunch(exec, stream.get()), cudaSuccess);
    stream.synchronize();
    EXPECT_LT(relative_error(y, block.expected(x)), 0x1p-9) << path;
    cudaGraphExecDestroy(exec);
    cudaGraphDestroy(graph);
  }
}

TEST_F(GpuGluFromC, RunsFromSeveralThreads) {
  const epi_glu_block given = block_of(EPI_GLU_GELU_TANH, 72, 200, 72);
  epi_glu* glu = prepared(given);
  const Block block(given);
  const auto work = [&](int64_t m) {
    const cuda::StreamGuard guard(cuda::Stream::create());
    const Tensor x = randn({m, given.k}, 4, kBf16);
    const Tensor workspace = workspace_for(glu, m, EPI_GLU_AUTO);
    Tensor first;
    for (int turn = 0; turn < 50; ++turn) {
      const Tensor y = empty({m, given.out}, kBf16);
      const epi_glu_call call = block.call(x, y, workspace);
      ASSERT_EQ(epi_glu_run(glu, &call), EPI_GLU_OK);
      const Tensor got = to(to(y, kCpu), DType::kF64);
      if (turn == 0) first = got;
      for (int64_t i = 0; i < got.numel(); ++i) {
        ASSERT_EQ(got.data<double>()[i], first.data<double>()[i]) << i;
      }
    }
  };
  std::vector<std::thread> threads;
  for (const int64_t m : {8, 100, 8, 100}) threads.emplace_back(work, m);
  for (std::thread& thread : threads) thread.join();
}

TEST_F(GpuGluFromC, ReportsInvalidArguments) {
  epi_glu_block given = block_of(EPI_GLU_SILU, 72, 200, 72);
  given.n = 12;
  epi_glu* glu = nullptr;
  EXPECT_EQ(epi_glu_create(&given, &glu), EPI_GLU_BAD_SIZE);
  given.n = 200;
  ASSERT_EQ(epi_glu_create(&given, &glu), EPI_GLU_OK);
  handles_.push_back(glu);
  const Block block(given);
  const Tensor x = randn({8, given.k}, 4, kBf16);
  const Tensor y = empty({8, given.out}, kBf16);
  const Tensor workspace = empty({int64_t{20} << 20}, kBf16);
  const auto status = [&](auto&& change) {
    epi_glu_call call = block.call(x, y, workspace);
    change(call);
    return epi_glu_run(glu, &call);
  };
  EXPECT_EQ(status([](epi_glu_call&) {}), EPI_GLU_NOT_PREPARED);
  ASSERT_EQ(epi_glu_prepare(glu), EPI_GLU_OK);
  EXPECT_EQ(status([](epi_glu_call&) {}), EPI_GLU_OK);
  EXPECT_EQ(status([](epi_glu_call& call) { call.m = 0; }), EPI_GLU_BAD_SIZE);
  EXPECT_EQ(status([](epi_glu_call& call) { call.x_stride = 64; }), EPI_GLU_BAD_SIZE);
  EXPECT_EQ(status([](epi_glu_call& call) { call.x_stride = 76; }), EPI_GLU_BAD_SIZE);
  EXPECT_EQ(status([](epi_glu_call& call) { call.up = nullptr; }), EPI_GLU_BAD_ADDRESS);
  EXPECT_EQ(status([](epi_glu_call& call) { call.up_bias = call.up; }), EPI_GLU_BAD_ADDRESS);
  EXPECT_EQ(status([](epi_glu_call& call) { call.workspace_bytes = 8; }), EPI_GLU_WORKSPACE);
  EXPECT_EQ(status([](epi_glu_call& call) { call.struct_size = 8; }), EPI_GLU_UNSUPPORTED);
  EXPECT_EQ(epi_glu_workspace_bytes(glu, 0, EPI_GLU_AUTO), 0U);
}

#endif

}  // namespace
}  // namespace epi
