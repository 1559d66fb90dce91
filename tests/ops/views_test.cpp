// SPDX-License-Identifier: Apache-2.0
// View operators return the right elements in the same storage. views_walk_test.cpp composes them.
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"

namespace epi {
namespace {

using ViewOf = std::function<Tensor(const Tensor&)>;
using Expected = std::function<RefTensor(const RefTensor&)>;

// Checks `view` against `expected`, and that it does not copy, for
// every dtype and layout of `shape`.
void expect_view(const Dims& shape, const ViewOf& view, const Expected& expected) {
  for (const DType dtype : kAllDTypes) {
    for (const LayoutKind kind : kAllLayouts) {
      const Tensor x = random_tensor(shape, dtype, kind, 1);
      const Tensor got = view(x);
      EXPECT_TRUE(same(got, expected(ref::read(x)))) << name(dtype) << " " << name(kind);
      EXPECT_EQ(got.storage(), x.storage()) << name(dtype) << " " << name(kind);
      EXPECT_EQ(got.dtype(), dtype);
    }
  }
}

// Expects the same elements in `shape`.
Expected as_shape(const Dims& shape) {
  return [shape](const RefTensor& x) { return ref::reshape(x, shape); };
}

TEST(Transpose, SwapsTwoDimensionsCountedFromEitherEnd) {
  const Expected swapped = [](const RefTensor& x) { return ref::transpose(x, 0, 2); };
  expect_view({3, 4, 5}, [](const Tensor& x) { return transpose(x, 0, 2); }, swapped);
  expect_view({3, 4, 5}, [](const Tensor& x) { return transpose(x, -1, -3); }, swapped);
}

TEST(Transpose, SameDimensionOrScalarChangesNothing) {
  expect_view({3, 4}, [](const Tensor& x) { return transpose(x, 1, 1); }, as_shape({3, 4}));
  expect_view({}, [](const Tensor& x) { return transpose(x, 0, -1); }, as_shape({}));
}

TEST(T, TransposesMatricesAndKeepsVectors) {
  const Expected swapped = [](const RefTensor& x) { return ref::transpose(x, 0, 1); };
  expect_view({3, 7}, [](const Tensor& x) { return t(x); }, swapped);
  expect_view({0, 7}, [](const Tensor& x) { return t(x); }, swapped);
  expect_view({7}, [](const Tensor& x) { return t(x); }, as_shape({7}));
  expect_view({}, [](const Tensor& x) { return t(x); }, as_shape({}));
}

TEST(Permute, ReordersDimensions) {
  expect_view(
      {2, 3, 4, 5}, [](const Tensor& x) { return permute(x, {2, 0, -1, 1}); },
      [](const RefTensor& x) { return ref::permute(x, {2, 0, 3, 1}); });
  expect_view({}, [](const Tensor& x) { return permute(x, {}); }, as_shape({}));
}

TEST(Expand, RepeatsSizeOneAndAddsLeadingDimensions) {
  const Expected expanded = [](const RefTensor& x) { return ref::expand(x, {2, 3, 4, 5}); };
  expect_view({3, 1, 5}, [](const Tensor& x) { return expand(x, {2, 3, 4, 5}); }, expanded);
  expect_view({3, 1, 5}, [](const Tensor& x) { return expand(x, {2, -1, 4, -1}); }, expanded);
  expect_view(
      {}, [](const Tensor& x) { return expand(x, {2, 3}); },
      [](const RefTensor& x) { return ref::expand(x, {2, 3}); });
}

TEST(Expand, ToSizeZeroIsEmpty) {
  EXPECT_EQ(expand(zeros({1, 3}), {0, 3}).numel(), 0);
  EXPECT_EQ(expand(zeros({1, 3}), {5, 0, 3}).shape(), (Dims{5, 0, 3}));
}

TEST(Expand, RepeatedDimensionsHaveStrideZero) {
  EXPECT_EQ(expand(zeros({3, 1}), {2, 3, 4}).strides(), (Dims{0, 1, 0}));
}

TEST(Narrow, KeepsRangeOfDimension) {
  const Expected middle = [](const RefTensor& x) { return ref::slice(x, 1, 2, 5); };
  expect_view({3, 6, 2}, [](const Tensor& x) { return narrow(x, 1, 2, 3); }, middle);
  expect_view({3, 6, 2}, [](const Tensor& x) { return narrow(x, -2, -4, 3); }, middle);
  expect_view({3, 6}, [](const Tensor& x) { return narrow(x, 0, 3, 0); }, as_shape({0, 6}));
}

TEST(Select, RemovesDimensionAtIndex) {
  const Expected second = [](const RefTensor& x) { return ref::select(x, 1, 2); };
  expect_view({3, 4, 5}, [](const Tensor& x) { return select(x, 1, 2); }, second);
  expect_view({3, 4, 5}, [](const Tensor& x) { return select(x, -2, -2); }, second);
  expect_view(
      {3}, [](const Tensor& x) { return select(x, 0, 1); },
      [](const RefTensor& x) { return ref::select(x, 0, 1); });
}

TEST(Slice, ClampsBoundsAsPythonDoes) {
  constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  const auto sliced = [](int64_t start, int64_t end, int64_t step = 1) {
    return [=](const RefTensor& x) { return ref::slice(x, 1, start, end, step); };
  };
  expect_view({2, 7}, [](const Tensor& x) { return slice(x, 1, 0, kAll); }, sliced(0, 7));
  expect_view({2, 7}, [](const Tensor& x) { return slice(x, 1, -3, -1); }, sliced(4, 6));
  expect_view({2, 7}, [](const Tensor& x) { return slice(x, -1, -99, 99); }, sliced(0, 7));
  expect_view({2, 7}, [](const Tensor& x) { return slice(x, 1, 5, 2); }, sliced(5, 5));
  expect_view({2, 7}, [](const Tensor& x) { return slice(x, 1, 99, kAll); }, sliced(7, 7));
}

TEST(Slice, AppliesStep) {
  for (const int64_t step : {2, 3, 6, 7, 100}) {
    expect_view(
        {2, 7}, [&](const Tensor& x) { return slice(x, 1, 1, 7, step); },
        [&](const RefTensor& x) { return ref::slice(x, 1, 1, 7, step); });
  }
}

TEST(Squeeze, RemovesOnlyDimensionsOfSizeOne) {
  expect_view({1, 3, 1, 4}, [](const Tensor& x) { return squeeze(x); }, as_shape({3, 4}));
  expect_view({1, 3, 1}, [](const Tensor& x) { return squeeze(x, -1); }, as_shape({1, 3}));
  expect_view({1, 3, 1}, [](const Tensor& x) { return squeeze(x, 1); }, as_shape({1, 3, 1}));
  expect_view({1, 1}, [](const Tensor& x) { return squeeze(x); }, as_shape({}));
}

TEST(Unsqueeze, InsertsDimensionAnywhere) {
  expect_view({3, 4}, [](const Tensor& x) { return unsqueeze(x, 0); }, as_shape({1, 3, 4}));
  expect_view({3, 4}, [](const Tensor& x) { return unsqueeze(x, 1); }, as_shape({3, 1, 4}));
  expect_view({3, 4}, [](const Tensor& x) { return unsqueeze(x, -1); }, as_shape({3, 4, 1}));
  expect_view({}, [](const Tensor& x) { return unsqueeze(x, -1); }, as_shape({1}));
}

TEST(View, SplitsAndMergesIfStridesAllow) {
  // Splitting a dimension never needs a copy, nor does adding a dimension of size one.
  expect_view({6, 5}, [](const Tensor& x) { return view(x, {2, 3, 5}); }, as_shape({2, 3, 5}));
  expect_view({6, 5}, [](const Tensor& x) { return view(x, {6, 1, -1}); }, as_shape({6, 1, 5}));
  expect_view({1}, [](const Tensor& x) { return view(x, {}); }, as_shape({}));
  expect_view({0, 5}, [](const Tensor& x) { return view(x, {5, 0, 3}); }, as_shape({5, 0, 3}));
  const Tensor x = arange(24);
  EXPECT_TRUE(same(view(view(x, {4, 6}), {2, -1}), ref::reshape(ref::read(x), {2, 12})));
}

TEST(View, SizeOneDimensionsHaveRowMajorStrides) {
  EXPECT_EQ(view(arange(24), {1, 24, 1}).strides(), (Dims{24, 1, 1}));
  EXPECT_EQ(view(arange(24), {4, 1, 6}).strides(), (Dims{6, 6, 1}));
}

TEST(UnsafeView, ReturnsSameElementsAsView) {
  expect_view(
      {6, 5}, [](const Tensor& x) { return _unsafe_view(x, {2, 3, 5}); }, as_shape({2, 3, 5}));
}

TEST(AsStrided, AcceptsAnyStridesAndOffset) {
  const Tensor x = slice(arange(40), 0, 3, 40);
  const Tensor windows =
      as_strided(x, {3, 4}, {2, 1});  // overlapping; the default offset is that of the tensor
  EXPECT_TRUE(same(windows, {{3, 4}, {3, 4, 5, 6, 5, 6, 7, 8, 7, 8, 9, 10}}));
  const Tensor absolute =
      as_strided(x, {2, 2}, {10, 0}, 1);  // an explicit offset is relative to the storage
  EXPECT_TRUE(same(absolute, {{2, 2}, {1, 1, 11, 11}}));
  EXPECT_EQ(windows.storage(), x.storage());
}

TEST(AsStrided, ReachesLastElementOfStorage) {
  const Tensor x = arange(10);
  EXPECT_TRUE(same(as_strided(x, {}, {}, 9), {{}, {9}}));
  EXPECT_TRUE(same(as_strided(x, {4}, {3}), {{4}, {0, 3, 6, 9}}));
}

TEST(Views, SupportEightDimensions) {
  expect_view(
      {1, 2, 1, 2, 1, 2, 1, 2}, [](const Tensor& x) { return transpose(x, 1, 7); },
      [](const RefTensor& x) { return ref::transpose(x, 1, 7); });
}

}  // namespace
}  // namespace epi
