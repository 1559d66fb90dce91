// SPDX-License-Identifier: Apache-2.0
#include "epilogue/cuda/allocator.h"

#include <thread>
#include <vector>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/cuda/with_device.h"
#include "tests/tensor/allocate_one.h"

namespace epi::cuda {
namespace {

constexpr int64_t kMiB = int64_t{1} << 20;
constexpr TensorOptions kOnGpu{DType::kF32, kCuda};

class CudaAllocator : public WithDevice {};

TEST_F(CudaAllocator, ReusesFreedBlockOfSameSizeClass) {
  Tensor x = empty({kMiB}, kOnGpu);
  const void* data = x.raw_data();
  const Allocation before = allocate_one(kCuda);
  x = {};
  const Allocation freed = allocate_one(kCuda);
  EXPECT_EQ(freed.in_use_bytes, before.in_use_bytes - 4 * kMiB);
  EXPECT_EQ(freed.reserved_bytes, before.reserved_bytes);
  const Tensor y = empty({kMiB - 3}, kOnGpu);  // slightly smaller, the same size class
  EXPECT_EQ(y.raw_data(), data);
  EXPECT_EQ(allocate_one(kCuda).reserved_bytes, before.reserved_bytes);
}

TEST_F(CudaAllocator, DoesNotShareBlocksBetweenStreams) {
  Tensor x = empty({kMiB}, kOnGpu);
  const void* data = x.raw_data();
  x = {};
  const StreamGuard guard(Stream::create());
  const Tensor y = empty({kMiB}, kOnGpu);
  EXPECT_NE(y.raw_data(), data);
}

TEST_F(CudaAllocator, ReusesBlockOnlyAfterRecordedStream) {
  const Stream other = Stream::create();
  Tensor x = zeros({64 * kMiB}, kOnGpu);
  synchronize();
  const void* data = x.raw_data();
  {
    const StreamGuard guard(other);
    for (int i = 0; i < 50; ++i) neg(x);  // milliseconds of work
  }
  record_stream(x, other);
  x = {};
  const Tensor y = empty({64 * kMiB}, kOnGpu);
  EXPECT_NE(y.raw_data(), data);
  other.synchronize();
  const Tensor z = empty({64 * kMiB}, kOnGpu);
  EXPECT_EQ(z.raw_data(), data);
}

TEST_F(CudaAllocator, ReleasesCachedBlocks) {
  empty({8 * kMiB}, kOnGpu);  // freed immediately
  const Allocation before = allocate_one(kCuda);
  EXPECT_GE(before.reserved_bytes, before.in_use_bytes + 32 * kMiB);
  release_cached();
  const Allocation released = allocate_one(kCuda);
  EXPECT_EQ(released.reserved_bytes, released.in_use_bytes);
}

TEST_F(CudaAllocator, ReleasesCacheAndRetriesIfMemoryRunsOut) {
  release_cached();
  const int64_t total = devices()->at(0).memory_bytes;
  const int64_t share = total / 5 * 3 / 4;  // in floats: 60 % of the device memory
  empty({share}, kOnGpu);                   // freed immediately
  // Another size class, which only fits if the cache is released.
  const Tensor y = empty({share / 10 * 9}, kOnGpu);
  EXPECT_NE(y.raw_data(), nullptr);
}

TEST_F(CudaAllocator, ReportsSizesIfNoMemoryIsLeft) {
  try {
    empty({int64_t{1} << 40}, kOnGpu);
    FAIL() << "allocated 4 TiB";
  } catch (const Error& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("[empty] out of memory on cuda:0: requested 4398046511104 bytes"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("free on the device"), std::string::npos) << message;
  }
  const Tensor x = zeros({16}, kOnGpu);  // later allocations succeed
  EXPECT_EQ(to(x, kCpu).data<float>()[15], 0);
}

TEST_F(CudaAllocator, AllocatesFromSeveralThreads) {
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (int& count : wrong) {
    threads.emplace_back([&count, value = static_cast<double>(threads.size())] {
      for (int i = 1; i < 200; ++i) {
        const Tensor x = add(full({1000 * i}, value, kOnGpu), 1);
        count += to(x, kCpu).data<float>()[999 * i] != static_cast<float>(value + 1);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

}  // namespace
}  // namespace epi::cuda
