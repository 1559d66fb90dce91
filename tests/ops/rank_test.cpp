// SPDX-License-Identifier: Apache-2.0
// argmax and topk over any dimension, dtype and layout.
#include <gtest/gtest.h>

#include <cmath>

#include "epilogue/ops/functional.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/mistakes.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

class Ranking : public ::testing::TestWithParam<DType> {
 protected:
  static void expect_argmax(const Tensor& x) {
    const RefTensor in = ref::read(x);
    for (int dim = 0; dim < x.dim(); ++dim) {
      const Tensor got = argmax(x, dim - x.dim());
      EXPECT_TRUE(same(got, ref::argmax(in, dim))) << to_string(x.shape()) << " over " << dim;
      EXPECT_EQ(got.dtype(), DType::kI64);
      EXPECT_TRUE(same(argmax(x, dim, true), ref::argmax(in, dim, true)));
    }
    const RefTensor flat = ref::argmax(ref::reshape(in, {x.numel()}), 0);
    EXPECT_TRUE(same(argmax(x), flat)) << to_string(x.shape());
    const Dims ones = Dims::filled(x.dim(), 1);
    EXPECT_TRUE(same(argmax(x, std::nullopt, true), ref::reshape(flat, ones)));
  }

  static void expect_topk(const Tensor& x, int64_t k, int dim) {
    const RefTensor in = ref::read(x);
    for (const bool largest : {true, false}) {
      const RefTensor want = ref::topk_indices(in, k, dim, largest);
      const auto [values, indices] = topk(x, k, dim - x.dim(), largest);
      EXPECT_TRUE(same(indices, want)) << to_string(x.shape()) << " over " << dim << ", k " << k;
      EXPECT_TRUE(same(values, ref::gather_along(in, dim, want)));
      EXPECT_EQ(values.dtype(), GetParam());
      EXPECT_EQ(indices.dtype(), DType::kI64);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, Ranking, ::testing::ValuesIn(kNumbers), dtype_label);

// Integers and broadcast layouts have many equal elements.
TEST_P(Ranking, ArgmaxMatchesReferenceOverAnyDimensionAndLayout) {
  for (const Dims& shape : {Dims{1}, Dims{129}, Dims{17, 65}, Dims{3, 7, 33}, Dims{2, 3, 1, 5}}) {
    for (const LayoutKind kind : kAllLayouts) {
      SCOPED_TRACE(name(kind));
      expect_argmax(random_tensor(shape, GetParam(), kind, 1));
    }
  }
}

TEST_P(Ranking, TopkMatchesReferenceOverAnyDimensionAndLayout) {
  for (const Dims& shape : {Dims{1}, Dims{129}, Dims{17, 65}, Dims{3, 7, 33}}) {
    for (int dim = 0; dim < shape.rank(); ++dim) {
      for (const LayoutKind kind : kAllLayouts) {
        SCOPED_TRACE(name(kind));
        const Tensor x = random_tensor(shape, GetParam(), kind, 2);
        for (const int64_t k : {int64_t{0}, int64_t{1}, shape[dim] / 2, shape[dim]}) {
          expect_topk(x, k, dim);
        }
      }
    }
  }
}

TEST_P(Ranking, MatchesReferenceInRowsOfEveryLength) {
  for (const int64_t length : {1024, 1025, 8193, 40000}) {
    const Tensor x = random_tensor({3, length}, GetParam(), LayoutKind::kContiguous, 3);
    expect_argmax(x);
    expect_topk(x, 5, 1);
  }
}

TEST_P(Ranking, MatchesReferenceAcrossThreads) {
  expect_argmax(random_tensor({67, 1001}, GetParam(), LayoutKind::kTransposed, 3));
  expect_topk(random_tensor({167, 1001}, GetParam(), LayoutKind::kContiguous, 3), 3, 1);
}

TEST_P(Ranking, ScalarHasIndexZero) {
  const Tensor x = random_tensor({}, GetParam(), LayoutKind::kContiguous, 1);
  EXPECT_TRUE(same(argmax(x), ref::scalar(0)));
  EXPECT_TRUE(same(argmax(x, -1), ref::scalar(0)));
  const auto [values, indices] = topk(x, 1);
  EXPECT_TRUE(same(values, ref::read(x)));
  EXPECT_TRUE(same(indices, ref::scalar(0)));
}

TEST_P(Ranking, KeepsRowsWithoutElementsEmpty) {
  const Tensor x = random_tensor({0, 5}, GetParam(), LayoutKind::kContiguous, 1);
  EXPECT_EQ(argmax(x, 1).shape(), Dims{0});
  EXPECT_EQ(topk(x, 2).values.shape(), (Dims{0, 2}));
}

TEST(Ranking, NaNIsLargest) {
  for (const DType dtype : kFloats) {
    const Tensor x = tensor_of({1, NAN, HUGE_VAL, NAN, -HUGE_VAL, 1}, {6}, dtype);
    EXPECT_TRUE(same(argmax(x, 0), ref::scalar(1)));
    EXPECT_TRUE(same(topk(x, 6).indices, {{6}, {1, 3, 2, 0, 5, 4}}));
    EXPECT_TRUE(same(topk(x, 6, 0, false).indices, {{6}, {4, 0, 5, 2, 1, 3}}));
  }
}

TEST(Ranking, FirstOfEqualElementsWins) {
  const Tensor x = tensor_of({0, 0, 2, 2, 2, 0, -0.0}, {7}, DType::kF32);
  EXPECT_TRUE(same(argmax(x), ref::scalar(2)));
  EXPECT_TRUE(same(topk(x, 5).indices, {{5}, {2, 3, 4, 0, 1}}));
}

TEST(Ranking, KeepsLargeIntegersExact) {
  const int64_t large = int64_t{1} << 60;
  const std::vector<int64_t> values = {large, large + 2, large + 1};
  const Tensor x = on_test_device(from_data<int64_t>(values, {3}));
  EXPECT_TRUE(same(topk(x, 3).indices, {{3}, {1, 2, 0}}));
}

TEST(RankingErrors, NameRuleAndNumbers) {
  const Tensor x = f32({3, 4});
  const Tensor none = f32({3, 0});
  expect_all_fail({
      {"argmax", {"2"}, [=] { argmax(x, 2); }},
      {"argmax", {"[3, 0]", "1"}, [=] { argmax(none, 1); }},
      {"argmax", {"[0]"}, [=] { argmax(f32({0})); }},
      {"argmax", {"bool"}, [=] { argmax(flags({3})); }},
      {"topk", {"5", "4", "[3, 4]"}, [=] { topk(x, 5); }},
      {"topk", {"-1"}, [=] { topk(x, -1); }},
      {"topk", {"3"}, [=] { topk(x, 1, 3); }},
      {"topk", {"bool"}, [=] { topk(flags({3}), 1); }},
  });
}

}  // namespace
}  // namespace epi
