// SPDX-License-Identifier: Apache-2.0
// Interoperability with the caller's CUDA code: streams, graphs and memory.
#include "epilogue/cuda/stream.h"

#include <vector>

#include "epilogue/cuda/allocator.h"
#include "epilogue/cuda/cuda_error.h"
#include "epilogue/cuda/pinned.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/dlpack.h"
#include "epilogue/tensor/factories.h"
#include "tests/cuda/with_device.h"
#include "tests/tensor/allocate_one.h"

namespace epi::cuda {
namespace {

constexpr TensorOptions kOnGpu{DType::kF32, kCuda};

std::vector<float> values_of(const Tensor& x) {
  const Tensor host = contiguous(to(x, kCpu));
  return {host.data<float>(), host.data<float>() + host.numel()};
}

class CudaStream : public WithDevice {};

TEST_F(CudaStream, CallersStreamRunsAllWorkInScope) {
  cudaStream_t mine = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&mine, cudaStreamNonBlocking), cudaSuccess);
  const Tensor x = randn({64, 32}, 1, kOnGpu);
  const Tensor want = relu(x);
  {
    const StreamGuard guard(Stream::wrap(mine));
    EXPECT_EQ(current_stream().get(), mine);
    const Tensor got = relu(x);
    ASSERT_EQ(cudaStreamSynchronize(mine), cudaSuccess);
    EXPECT_EQ(values_of(got), values_of(want));
  }
  EXPECT_EQ(current_stream().get(), nullptr);
  cudaStreamDestroy(mine);
}

TEST_F(CudaStream, GuardsNest) {
  const Stream a = Stream::create();
  const Stream b = Stream::create();
  const StreamGuard outer(a);
  {
    const StreamGuard inner(b);
    EXPECT_EQ(current_stream().id(), b.id());
  }
  EXPECT_EQ(current_stream().id(), a.id());
  EXPECT_NE(a.id(), b.id());
}

TEST_F(CudaStream, WaitsForEventOfAnotherStream) {
  const Stream a = Stream::create();
  const Stream b = Stream::create();
  Tensor x;
  {
    const StreamGuard guard(a);
    x = randn({1 << 22}, 2, kOnGpu);
    for (int i = 0; i < 20; ++i) x = add(x, 1);
  }
  const Event done;
  done.record(a);
  b.wait(done);
  const StreamGuard guard(b);
  const auto got = values_of(neg(x));
  EXPECT_EQ(got, values_of(neg(to(x, kCpu))));
}

TEST_F(CudaStream, EventsMeasureElapsedTime) {
  const Event start(Event::Timing::kOn);
  const Event end(Event::Timing::kOn);
  const Tensor x = zeros({1 << 26}, kOnGpu);  // 256 MB, read and written in about 120 us at most
  start.record(current_stream());
  neg(x);
  end.record(current_stream());
  end.synchronize();
  EXPECT_GT(end.ms_since(start), 0.05F);
  EXPECT_TRUE(end.is_done());
}

class CudaGraph : public WithDevice {};

TEST_F(CudaGraph, CallersGraphReplaysForwardOnNewInputs) {
  nn::GluMlp mlp(64, 256);
  nn::init_normal(mlp, 1);
  mlp.to(kCuda);
  const Tensor x = randn({8, 64}, 3, kOnGpu);
  const Stream stream = Stream::create();
  GraphMemory memory;
  const StreamGuard guard(stream);
  mlp.forward(x);  // creates plans and workspaces before the capture
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  Tensor y;
  ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal), cudaSuccess);
  {
    const GraphMemory::Use use(memory);
    y = mlp.forward(x);
  }
  ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
  ASSERT_EQ(cudaGraphInstantiate(&replay, graph, 0), cudaSuccess);
  for (const uint64_t seed : {4U, 5U}) {
    copy_(x, randn({8, 64}, seed));
    ASSERT_EQ(cudaGraphLaunch(replay, stream.get()), cudaSuccess);
    const auto replayed = values_of(y);
    EXPECT_EQ(replayed, values_of(mlp.forward(x))) << seed;
  }
  cudaGraphExecDestroy(replay);
  cudaGraphDestroy(graph);
}

TEST_F(CudaGraph, RejectsAllocationWithoutGraphMemory) {
  const Stream stream = Stream::create();
  const StreamGuard guard(stream);
  const Tensor x = randn({8}, 1, kOnGpu);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_THROW(neg(x), Error);
  ASSERT_EQ(cudaStreamEndCapture(stream.get(), &graph), cudaSuccess);
  cudaGraphDestroy(graph);
}

TEST_F(CudaGraph, GraphMemoryIsNotSharedWithOtherWork) {
  const Allocation before = allocate_one(kCuda);
  const void* data = nullptr;
  {
    GraphMemory memory;
    {
      const GraphMemory::Use use(memory);
      data = empty({1000}, kOnGpu).raw_data();
      EXPECT_EQ(empty({1000}, kOnGpu).raw_data(), data);  // reused inside the graph memory
    }
    EXPECT_NE(empty({1000}, kOnGpu).raw_data(), data);
  }
  EXPECT_EQ(allocate_one(kCuda).in_use_bytes, before.in_use_bytes);
}

class CudaMemory : public WithDevice {};

TEST_F(CudaMemory, ReadsAndWritesCallersMemoryInPlace) {
  float* mine = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&mine), 64 * sizeof(float)), cudaSuccess);
  bool released = false;
  {
    const Tensor x = from_blob(mine, {4, 16}, kOnGpu, [&] { released = true; });
    copy_(x, view(arange(64, {DType::kF32, kCpu}), {4, 16}));
    EXPECT_EQ(x.raw_data(), reinterpret_cast<std::byte*>(mine));
    EXPECT_EQ(values_of(add(x, x))[63], 126);
    EXPECT_FALSE(released);
  }
  EXPECT_TRUE(released);
  cudaFree(mine);
}

TEST_F(CudaMemory, PassesThroughDlpackWithoutCopy) {
  const Tensor x = randn({3, 5}, 1, kOnGpu);
  DLManagedTensor* managed = to_dlpack(t(x));
  EXPECT_EQ(managed->dl_tensor.device.device_type, kDLCUDA);
  const Tensor back = from_dlpack(managed);
  EXPECT_EQ(back.device(), kCuda);
  EXPECT_EQ(back.raw_data(), x.raw_data());
  EXPECT_EQ(values_of(back), values_of(t(x)));
}

TEST_F(CudaMemory, PinnedMemoryIsReusedOnlyAfterAsyncCopy) {
  Tensor pinned = empty_pinned({1 << 24});
  EXPECT_TRUE(is_pinned(pinned));
  EXPECT_FALSE(is_pinned(zeros({4})));
  std::fill_n(pinned.data<float>(), pinned.numel(), 7.0F);
  const Tensor x = empty({1 << 24}, kOnGpu);
  copy_(x, pinned, /*non_blocking=*/true);
  const void* data = pinned.raw_data();
  pinned = {};
  // Gets another block while the copy runs, or the same block once it is free.
  Tensor other = empty_pinned({1 << 24});
  std::fill_n(other.data<float>(), other.numel(), 9.0F);
  EXPECT_EQ(values_of(x).back(), 7);
  EXPECT_EQ(values_of(x).front(), 7);
  synchronize();
  const Tensor third = empty_pinned({1 << 24});
  EXPECT_TRUE(third.raw_data() == data || other.raw_data() == data);
}

TEST_F(CudaMemory, CopiesInBothDirectionsForLayoutsAndDTypes) {
  for (const DType from : {DType::kF32, DType::kBF16, DType::kI64}) {
    for (const DType into : {DType::kF32, DType::kF16, DType::kI32}) {
      const Tensor x = to(mul(randn({6, 10}, 4), 8), from);
      for (const Tensor& source : {x, t(x), slice(x, 1, 0, 10, 3)}) {
        const Tensor there = t(empty({source.size(1), source.size(0)}, {into, kCuda}));
        copy_(there, source);
        const Tensor back = slice(empty({source.size(0), 2 * source.size(1)}, {into, kCpu}), 1, 0,
                                  2 * source.size(1), 2);
        copy_(back, there);
        EXPECT_EQ(values_of(to(back, DType::kF32)), values_of(to(to(source, into), DType::kF32)))
            << name(from) << " into " << name(into);
      }
    }
  }
}

TEST_F(CudaMemory, OperatorsRejectTensorsOfTwoDevices) {
  const Tensor x = zeros({4}, kOnGpu);
  EXPECT_THROW(add(x, zeros({4})), Error);
}

}  // namespace
}  // namespace epi::cuda
