// SPDX-License-Identifier: Apache-2.0
// epilogue/glu.h: errors on any machine, results on a Hopper GPU.
#include "epilogue/glu.h"

#include <gtest/gtest.h>

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

TEST(GluFromC, RejectsUnsupportedDeviceAndDType) {
  epi_glu* glu = nullptr;
  EXPECT_EQ(epi_glu_create(99, EPI_GLU_BF16, EPI_GLU_SILU, &glu), EPI_GLU_UNSUPPORTED);
  EXPECT_EQ(glu, nullptr);
  EXPECT_EQ(epi_glu_create(0, static_cast<epi_glu_dtype>(7), EPI_GLU_SILU, &glu),
            EPI_GLU_UNSUPPORTED);
  EXPECT_STREQ(epi_glu_message(nullptr), "");
  for (int status = 0; status <= EPI_GLU_FAILED; ++status) {
    EXPECT_GT(std::string(epi_glu_status_text(static_cast<epi_glu_status>(status))).size(), 3U);
  }
  epi_glu_destroy(nullptr);
}

#ifdef EPI_HAS_CUDA

class GpuGluFromC : public cuda::WithDevice {
 protected:
  void SetUp() override {
    cuda::WithDevice::SetUp();
    if (IsSkipped()) return;
    const epi_glu_status status = epi_glu_create(0, EPI_GLU_BF16, EPI_GLU_GELU_TANH, &glu_);
    if (status == EPI_GLU_UNSUPPORTED) GTEST_SKIP() << epi_glu_status_text(status);
    ASSERT_EQ(status, EPI_GLU_OK);
  }
  void TearDown() override { epi_glu_destroy(glu_); }

  epi_glu_status run(const Tensor& x, const Tensor& y, size_t workspace_bytes,
                     size_t offset = 0) const {
    return epi_glu_mlp(glu_, cuda::current_stream().get(), x.raw_data() + offset, gate_.raw_data(),
                       up_.raw_data(), down_.raw_data(), y.raw_data(), x.size(0), kN, kK,
                       workspace_.raw_data(), workspace_bytes);
  }

  static constexpr int64_t kN = 200;
  static constexpr int64_t kK = 72;
  static constexpr TensorOptions kOptions{DType::kBF16, kCuda};
  epi_glu* glu_ = nullptr;
  Tensor gate_;
  Tensor up_;
  Tensor down_;
  Tensor workspace_;

  void make_weights() {
    gate_ = mul(randn({kN, kK}, 1, kOptions), 0.125);
    up_ = mul(randn({kN, kK}, 2, kOptions), 0.125);
    down_ = mul(randn({kK, kN}, 3, kOptions), 0.0625);
    workspace_ = empty({300, kN}, kOptions);
  }
};

TEST_F(GpuGluFromC, MatchesFloat64) {
  make_weights();
  for (const int64_t m : {1, 17, 64, 65, 300}) {
    const Tensor x = randn({m, kK}, 4, kOptions);
    const Tensor y = full({m, kK}, NAN, kOptions);
    const size_t bytes = epi_glu_workspace_bytes(m, kN, kK);
    EXPECT_EQ(bytes, static_cast<size_t>(m * kN * 2));
    EXPECT_EQ(run(x, y, bytes), EPI_GLU_NOT_PREPARED);
    ASSERT_EQ(epi_glu_prepare(glu_, m, kN, kK), EPI_GLU_OK) << epi_glu_message(glu_);
    ASSERT_EQ(run(x, y, bytes), EPI_GLU_OK);
    const auto wide = [](const Tensor& t) { return to(to(t, kCpu), DType::kF64); };
    const Tensor h = mul(gelu(linear(wide(x), wide(gate_)), "tanh"), linear(wide(x), wide(up_)));
    const Tensor want = linear(h, wide(down_));
    const Tensor got = wide(y);
    double apart = 0;
    double whole = 0;
    for (int64_t i = 0; i < want.numel(); ++i) {
      apart += std::pow(got.data<double>()[i] - want.data<double>()[i], 2);
      whole += std::pow(want.data<double>()[i], 2);
    }
    EXPECT_LT(std::sqrt(apart / whole), 0x1p-8) << m;  // rounding of h and y
  }
}

TEST_F(GpuGluFromC, CapturesF16AndSilu) {
  epi_glu* silu_glu = nullptr;
  ASSERT_EQ(epi_glu_create(0, EPI_GLU_F16, EPI_GLU_SILU, &silu_glu), EPI_GLU_OK);
  const TensorOptions options{DType::kF16, kCuda};
  const Tensor x = randn({20, 64}, 1, options);
  const Tensor gate = mul(randn({128, 64}, 2, options), 0.125);
  const Tensor up = mul(randn({128, 64}, 3, options), 0.125);
  const Tensor down = mul(randn({64, 128}, 4, options), 0.125);
  const Tensor y = full({20, 64}, NAN, options);
  const Tensor h = empty({20, 128}, options);
  ASSERT_EQ(epi_glu_prepare(silu_glu, 20, 128, 64), EPI_GLU_OK) << epi_glu_message(silu_glu);
  const cuda::Stream stream = cuda::Stream::create();
  cuda::synchronize();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(epi_glu_mlp(silu_glu, stream.get(), x.raw_data(), gate.raw_data(), up.raw_data(),
                        down.raw_data(), y.raw_data(), 20, 128, 64, h.raw_data(),
                        static_cast<size_t>(h.size_bytes())),
            EPI_GLU_OK);
  ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream.get()), cudaSuccess);
  stream.synchronize();
  const auto wide = [](const Tensor& t) { return to(to(t, kCpu), DType::kF64); };
  const Tensor want =
      linear(mul(silu(linear(wide(x), wide(gate))), linear(wide(x), wide(up))), wide(down));
  const Tensor got = wide(y);
  for (int64_t i = 0; i < want.numel(); ++i) {
    ASSERT_NEAR(got.data<double>()[i], want.data<double>()[i], 0x1p-7) << i;  // values are near one
  }
  cudaGraphExecDestroy(exec);
  cudaGraphDestroy(graph);
  epi_glu_destroy(silu_glu);
}

TEST_F(GpuGluFromC, RunsFromSeveralThreads) {
  make_weights();
  for (const int64_t m : {8, 100}) ASSERT_EQ(epi_glu_prepare(glu_, m, kN, kK), EPI_GLU_OK);
  const auto work = [&](int64_t m) {
    const cuda::StreamGuard guard(cuda::Stream::create());
    const Tensor x = randn({m, kK}, 4, kOptions);
    const Tensor h = empty({m, kN}, kOptions);
    Tensor first;
    for (int call = 0; call < 50; ++call) {
      const Tensor y = empty({m, kK}, kOptions);
      ASSERT_EQ(epi_glu_mlp(glu_, cuda::current_stream().get(), x.raw_data(), gate_.raw_data(),
                            up_.raw_data(), down_.raw_data(), y.raw_data(), m, kN, kK, h.raw_data(),
                            static_cast<size_t>(h.size_bytes())),
                EPI_GLU_OK);
      const Tensor got = to(to(y, kCpu), DType::kF64);
      if (call == 0) first = got;
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
  make_weights();
  const Tensor x = randn({8, kK}, 4, kOptions);
  const Tensor y = empty({8, kK}, kOptions);
  const size_t bytes = epi_glu_workspace_bytes(8, kN, kK);
  ASSERT_EQ(epi_glu_prepare(glu_, 8, kN, kK), EPI_GLU_OK);
  EXPECT_EQ(run(x, y, bytes - 1), EPI_GLU_WORKSPACE);
  EXPECT_EQ(run(x, y, bytes, 2), EPI_GLU_BAD_ADDRESS);
  EXPECT_EQ(epi_glu_prepare(glu_, 0, kN, kK), EPI_GLU_BAD_SIZE);
  EXPECT_EQ(epi_glu_prepare(glu_, 8, 12, kK), EPI_GLU_BAD_SIZE);
  EXPECT_EQ(epi_glu_workspace_bytes(8, 12, kK), 0U);
}

#endif

}  // namespace
}  // namespace epi
