// SPDX-License-Identifier: Apache-2.0
#include "epilogue/tensor/tensor.h"

#include <gtest/gtest.h>

#include <vector>

#include "epilogue/tensor/cpu_allocator.h"
#include "epilogue/tensor/factories.h"
#include "epilogue/tensor/print.h"
#include "tests/tensor/allocate_one.h"

namespace epi {
namespace {

TEST(Tensor, CopiesShareMemory) {
  const Tensor a = zeros({4});
  const Tensor b = a;  // NOLINT(performance-unnecessary-copy-initialization): the copy is tested
  b.data<float>()[2] = 5;
  EXPECT_EQ(a.data<float>()[2], 5);
}

TEST(Tensor, TypedAccessChecksTheDtype) {
  const Tensor a = zeros({4});
  EXPECT_THROW(a.data<double>(), Error);
}

TEST(Tensor, RejectsLayoutsOutsideTheStorage) {
  const Tensor a = zeros({4});
  EXPECT_NO_THROW(a.with_layout("x", {{2, 2}, {2, 1}}, 0));
  EXPECT_THROW(a.with_layout("x", {{2, 2}, {3, 1}}, 0), Error);
  EXPECT_THROW(a.with_layout("x", {{2}, {1}}, 3), Error);
  EXPECT_THROW(a.with_layout("x", {{2}, {-1}}, 0), Error);
  EXPECT_NO_THROW(a.with_layout("x", {{4}, {-1}}, 3));
  EXPECT_THROW(a.with_layout("x", {{1}, {1}}, INT64_MAX), Error);
}

TEST(Tensor, PrintsShapeStridesDtypeAndElements) {
  const std::vector<float> values{1, 2.5, -3, 4, 5, 6};
  const Tensor x = from_data<float>(values, {2, 3});
  EXPECT_EQ(to_string(x), "f32 [2, 3] strides [3, 1] cpu\n[[1, 2.5, -3],\n [4, 5, 6]]");
  const Tensor t = x.with_layout("t", {{3, 2}, {1, 3}}, 0);
  EXPECT_EQ(to_string(t), "f32 [3, 2] strides [1, 3] cpu\n[[1, 4],\n [2.5, 5],\n [-3, 6]]");
}

TEST(Tensor, PrintsLongDimensionsShortened) {
  EXPECT_EQ(to_string(arange(9)), "i64 [9] strides [1] cpu\n[0, 1, 2, ..., 6, 7, 8]");
  EXPECT_EQ(to_string(empty({2}, {DType::kBool, kMeta})), "bool [2] strides [1] meta");
  EXPECT_EQ(to_string(full({}, 2)), "f32 [] strides [] cpu\n2");
  EXPECT_EQ(to_string(zeros({0, 3})), "f32 [0, 3] strides [3, 1] cpu\n[]");
  EXPECT_EQ(to_string(Tensor()), "undefined");
}

TEST(Allocator, ReusesFreedBlocks) {
  cpu_release_cached();
  const void* first = nullptr;
  {
    const Tensor a = empty({1000});
    first = a.raw_data();
  }
  const Tensor b = empty({1010});  // the same size class
  EXPECT_EQ(b.raw_data(), first);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0U);
}

TEST(Allocator, ReportsUsedAndReservedBytes) {
  cpu_release_cached();
  const Allocation before = allocate_one(kCpu);
  {
    const Tensor a = empty({1 << 20});
    EXPECT_EQ(allocate_one(kCpu).in_use_bytes, before.in_use_bytes + (4 << 20));
  }
  const Allocation freed = allocate_one(kCpu);
  EXPECT_EQ(freed.in_use_bytes, before.in_use_bytes);
  EXPECT_EQ(freed.reserved_bytes, before.reserved_bytes + (4 << 20));
  cpu_release_cached();
  EXPECT_EQ(allocate_one(kCpu).reserved_bytes, before.reserved_bytes);
}

TEST(Storage, ReleasesWrappedMemoryOnce) {
  int released = 0;
  float value = 3;
  {
    auto storage = Storage::wrap(kCpu, &value, 4, [&] { ++released; });
    const Tensor a(storage, {{1}, {1}}, 0, DType::kF32);
    storage.reset();
    EXPECT_EQ(released, 0);
    EXPECT_EQ(a.data<float>(), &value);
  }
  EXPECT_EQ(released, 1);
}

TEST(Tensor, UndefinedTensorsAnswerOrThrow) {
  const Tensor none;
  EXPECT_FALSE(none.defined());
  EXPECT_EQ(none.dim(), 0);
  EXPECT_EQ(none.numel(), 0);
  EXPECT_EQ(none.size_bytes(), 0);
  EXPECT_EQ(none.storage(), nullptr);
  EXPECT_THROW(none.device(), Error);
  EXPECT_THROW(none.raw_data(), Error);
  EXPECT_THROW(none.data<float>(), Error);
  EXPECT_THROW(none.size(0), Error);
  EXPECT_THROW(none.with_layout("view", {Dims{1}, Dims{1}}, 0), Error);
}

}  // namespace
}  // namespace epi
