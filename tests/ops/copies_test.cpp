// SPDX-License-Identifier: Apache-2.0
// clone, contiguous, copy_, reshape, flatten and to.
#include <gtest/gtest.h>

#include <limits>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

// Empty shapes, one element, no dimensions, odd sizes, and one large enough for several threads.
const std::vector<Dims> kShapes = {{},      {1},       {0},       {3, 0, 2},  {7},
                                   {17, 3}, {2, 3, 5}, {65, 129}, {131, 1001}};

class Copies : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(DTypes, Copies, ::testing::ValuesIn(kAllDTypes), dtype_label);

TEST_P(Copies, CloneIsARowMajorCopyOfAnyLayout) {
  for (const Dims& shape : kShapes) {
    for (const LayoutKind kind : kAllLayouts) {
      const Tensor x = random_tensor(shape, GetParam(), kind, 3);
      const Tensor copy = clone(x);
      EXPECT_TRUE(same(copy, ref::read(x))) << name(kind);
      EXPECT_TRUE(copy.is_contiguous());
      EXPECT_NE(copy.storage(), x.storage());
    }
  }
}

TEST_P(Copies, ContiguousCopiesOnlyIfNotRowMajor) {
  for (const LayoutKind kind : kAllLayouts) {
    const Tensor x = random_tensor({4, 5}, GetParam(), kind, 4);
    const Tensor dense = contiguous(x);
    EXPECT_TRUE(same(dense, ref::read(x))) << name(kind);
    EXPECT_EQ(dense.strides(), (Dims{5, 1}));
    EXPECT_EQ(dense.storage() == x.storage(), kind == LayoutKind::kContiguous) << name(kind);
  }
}

TEST_P(Copies, ReshapeKeepsElementOrderOfAnyLayout) {
  for (const LayoutKind kind : kAllLayouts) {
    const Tensor x = random_tensor({4, 9}, GetParam(), kind, 5);
    EXPECT_TRUE(same(reshape(x, {6, -1}), ref::reshape(ref::read(x), {6, 6}))) << name(kind);
    EXPECT_TRUE(same(flatten(x), ref::reshape(ref::read(x), {36}))) << name(kind);
  }
}

TEST_P(Copies, CopyIntoViewWritesOnlyThatView) {
  for (const LayoutKind to : kDenseLayouts) {
    for (const LayoutKind from : kAllLayouts) {
      const Tensor self = random_tensor({17, 33}, GetParam(), to, 6);
      const Tensor src = random_tensor({17, 33}, GetParam(), from, 7);
      const Tensor old = clone(self);
      const Tensor whole =
          as_strided(self, {self.storage()->size_bytes() / size_bytes(GetParam())}, {1}, 0);
      const RefTensor before = ref::read(whole);
      EXPECT_EQ(copy_(self, src).raw_data(), self.raw_data());
      EXPECT_TRUE(same(self, ref::read(src))) << name(from) << " into " << name(to);
      copy_(self, old);
      EXPECT_TRUE(same(whole, before)) << name(from) << " into " << name(to);
    }
  }
}

TEST_P(Copies, CopyBroadcastsSource) {
  for (const Dims& shape : {Dims{}, Dims{5}, Dims{1, 5}, Dims{3, 1}, Dims{1, 1}}) {
    const Tensor src = random_tensor(shape, GetParam(), LayoutKind::kSliced, 8);
    const Tensor self = random_tensor({2, 3, 5}, GetParam(), LayoutKind::kTransposed, 9);
    EXPECT_TRUE(same(copy_(self, src), ref::expand(ref::read(src), {2, 3, 5})));
  }
}

TEST(Copies, CopyBetweenOverlappingViewsReadsOldValues) {
  const Tensor square = random_tensor({70, 70}, DType::kF32, LayoutKind::kContiguous, 11);
  const RefTensor transposed = ref::read(contiguous(t(square)));
  EXPECT_TRUE(same(copy_(square, t(square)), transposed));

  const Tensor line = random_tensor({5000}, DType::kF32, LayoutKind::kContiguous, 12);
  const RefTensor old = ref::read(clone(narrow(line, 0, 0, 4999)));
  EXPECT_TRUE(same(copy_(narrow(line, 0, 1, 4999), narrow(line, 0, 0, 4999)), old));
}

TEST(Copies, FlattenOfScalarHasOneElement) {
  EXPECT_TRUE(same(flatten(on_test_device(full({}, 3))), {{1}, {3}}));
  EXPECT_TRUE(same(flatten(zeros({2, 0, 3}), 1), {{2, 0}, {}}));
}

TEST(Copies, FlattenOfOneDimensionReturnsInput) {
  const Tensor x = random_tensor({3, 4}, DType::kF32, LayoutKind::kStepped, 1);
  EXPECT_EQ(flatten(x, 1, 1).strides(), x.strides());
  EXPECT_EQ(flatten(x, 1, 1).raw_data(), x.raw_data());
}

TEST(To, SameDTypeReturnsInput) {
  const Tensor x = random_tensor({3, 4}, DType::kF32, LayoutKind::kTransposed, 1);
  EXPECT_EQ(to(x, DType::kF32).raw_data(), x.raw_data());
  EXPECT_EQ(to(x, DType::kF32).strides(), x.strides());
}

class Conversion : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(From, Conversion, ::testing::ValuesIn(kAllDTypes), dtype_label);

TEST_P(Conversion, RoundsOnceAndTruncatesToIntegers) {
  for (const DType dtype : kAllDTypes) {
    for (const LayoutKind kind : kAllLayouts) {
      const Tensor x = random_tensor({17, 65}, GetParam(), kind, 10);
      RefTensor want = ref::read(x);
      for (double& value : want.values) value = ref::rounded(value, dtype);
      const Tensor converted = to(x, dtype);
      EXPECT_EQ(converted.dtype(), dtype);
      EXPECT_TRUE(same(converted, want)) << "to " << name(dtype) << " " << name(kind);
    }
  }
}

TEST(Conversion, NonZeroBecomesTrue) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const DType dtype : kFloats) {
    const Tensor x = tensor_of({0, -0.0, 0.25, -3, nan}, {5}, dtype);
    EXPECT_TRUE(same(to(x, DType::kBool), {{5}, {0, 0, 1, 1, 1}})) << name(dtype);
  }
  const Tensor wide = tensor_of({0, 256, 0x1p40}, {3}, DType::kI64);  // low byte zero
  EXPECT_TRUE(same(to(wide, DType::kBool), {{3}, {0, 1, 1}}));
}

TEST(Conversion, TruncatesToIntegers) {
  const std::vector<double> halves = {-2.75, -0.5, 0.5, 1.5, 2.75};
  for (const DType from : kFloats) {
    for (const DType dtype : {DType::kI64, DType::kI32}) {
      EXPECT_TRUE(same(to(tensor_of(halves, {5}, from), dtype), {{5}, {-2, 0, 0, 1, 2}}));
    }
  }
}

}  // namespace
}  // namespace epi
