// SPDX-License-Identifier: Apache-2.0
// scaled_dot_product_attention, and the softmaxes that it uses for masks.
#include <gtest/gtest.h>

#include <cmath>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/mistakes.h"
#include "tests/ops/recorder.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

class MaskedSoftmax : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(DTypes, MaskedSoftmax, ::testing::ValuesIn(kFloats), dtype_label);

TEST_P(MaskedSoftmax, CausalMatchesReferenceInEveryLayout) {
  for (const Dims& shape : {Dims{1, 1}, Dims{17, 65}, Dims{65, 17}, Dims{2, 3, 33, 33},
                            Dims{3, 0, 5}, Dims{2, 1, 40}, Dims{9, 1}, Dims{3, 2000}}) {
    for (const LayoutKind kind : kAllLayouts) {
      const Tensor x = random_tensor(shape, GetParam(), kind, 1);
      EXPECT_TRUE(
          matches(causal_softmax(x), ref::causal_softmax(ref::read(x)), OpClass::kReduction))
          << to_string(shape) << " " << name(kind);
    }
  }
}

// Columns that a row does not read may hold anything.
TEST_P(MaskedSoftmax, CausalIgnoresNaNAboveTheDiagonal) {
  const Tensor x = tensor_of({1, NAN, NAN, 1, 1, HUGE_VAL}, {2, 3}, GetParam());
  EXPECT_TRUE(same(causal_softmax(x), {{2, 3}, {1, 0, 0, 0.5, 0.5, 0}}));
}

TEST_P(MaskedSoftmax, SafeMatchesReferenceOverAnyDimension) {
  for (const Dims& shape : {Dims{}, Dims{7}, Dims{17, 65}, Dims{3, 7, 33}, Dims{2, 20000}}) {
    for (const LayoutKind kind : kAllLayouts) {
      const Tensor x = random_tensor(shape, GetParam(), kind, 1);
      for (int dim = 0; dim < shape.rank(); ++dim) {
        EXPECT_TRUE(matches(_safe_softmax(x, dim), ref::safe_softmax(ref::read(x), dim),
                            OpClass::kReduction))
            << to_string(shape) << " over " << dim << " " << name(kind);
      }
    }
  }
}

TEST_P(MaskedSoftmax, SafeGivesZeroForFullyMaskedRowsOnly) {
  const double low = -HUGE_VAL;
  const Tensor x = tensor_of({low, low, low, 2, NAN, low}, {3, 2}, GetParam());
  EXPECT_TRUE(same(_safe_softmax(x, 1), {{3, 2}, {0, 0, 0, 1, NAN, NAN}}));
}

struct AttentionShape {
  int64_t heads;
  int64_t shared;
  int64_t rows;
  int64_t columns;
};

class Attention : public ::testing::TestWithParam<DType> {
 protected:
  static constexpr int64_t kBatch = 2;
  static constexpr int64_t kDepth = 8;
  static constexpr int64_t kWidth = 5;

  explicit Attention() = default;

  void make(const AttentionShape& s, LayoutKind kind) {
    q_ = random_tensor({kBatch, s.heads, s.rows, kDepth}, GetParam(), kind, 1);
    k_ = random_tensor({kBatch, s.shared, s.columns, kDepth}, GetParam(), kind, 2);
    v_ = random_tensor({kBatch, s.shared, s.columns, kWidth}, GetParam(), kind, 3);
    scores_ = {kBatch, s.heads, s.rows, s.columns};
  }

  RefTensor no_mask() const { return ref::expand(ref::scalar(0), scores_); }
  RefTensor causal_mask() const {
    RefTensor mask = no_mask();
    ref::for_each_index(scores_, [&](const Dims& index, size_t i) {
      if (index[3] > index[2]) mask.values[i] = -HUGE_VAL;
    });
    return mask;
  }
  void expect(const Tensor& got, const RefTensor& mask, double scale) const {
    const RefTensor want = ref::attention(ref::read(q_), ref::read(k_), ref::read(v_), mask, scale);
    EXPECT_TRUE(matches(got, want, OpClass::kAttention)) << to_string(scores_);
  }

  Tensor q_;
  Tensor k_;
  Tensor v_;
  Dims scores_;
};
INSTANTIATE_TEST_SUITE_P(DTypes, Attention, ::testing::ValuesIn(kFloats), dtype_label);

const AttentionShape kAttentionShapes[] = {{2, 2, 5, 7},  {2, 2, 7, 7},   {4, 2, 5, 9},
                                           {6, 2, 1, 33}, {4, 1, 17, 17}, {3, 3, 1, 1}};
const double kDefaultScale = 1 / std::sqrt(8.0);

TEST_P(Attention, MatchesReferenceWithAndWithoutCausalMask) {
  for (const AttentionShape& shape : kAttentionShapes) {
    for (const LayoutKind kind : kAllLayouts) {
      SCOPED_TRACE(name(kind));
      make(shape, kind);
      const bool gqa = shape.heads != shape.shared;
      expect(scaled_dot_product_attention(q_, k_, v_, {}, false, std::nullopt, gqa), no_mask(),
             kDefaultScale);
      expect(scaled_dot_product_attention(q_, k_, v_, {}, true, 0.25, gqa), causal_mask(), 0.25);
    }
  }
}

TEST_P(Attention, AddsFloatMaskAndAppliesBoolMask) {
  for (const AttentionShape& shape : kAttentionShapes) {
    make(shape, LayoutKind::kContiguous);
    const bool gqa = shape.heads != shape.shared;
    for (const Dims& size : {scores_, Dims{shape.rows, shape.columns}, Dims{shape.columns},
                             Dims{2, 1, 1, shape.columns}}) {
      const Tensor added = random_tensor(size, GetParam(), LayoutKind::kContiguous, 4);
      expect(scaled_dot_product_attention(q_, k_, v_, added, false, std::nullopt, gqa),
             ref::expand(ref::read(added), scores_), kDefaultScale);
      const Tensor kept = random_tensor(size, DType::kBool, LayoutKind::kContiguous, 5);
      const RefTensor mask = ref::where(ref::read(kept), ref::scalar(0), ref::scalar(-HUGE_VAL));
      expect(scaled_dot_product_attention(q_, k_, v_, kept, false, std::nullopt, gqa),
             ref::expand(mask, scores_), kDefaultScale);
    }
  }
}

TEST_P(Attention, FullyMaskedRowsGiveZero) {
  make({2, 2, 3, 4}, LayoutKind::kContiguous);
  const Tensor none = full({3, 4}, 0, {DType::kBool, test_device()});
  EXPECT_TRUE(same(scaled_dot_product_attention(q_, k_, v_, none),
                   ref::expand(ref::scalar(0), {2, 2, 3, 5})));
}

TEST(GroupedAttention, KeepsTheShapeOfAnEmptyQuery) {
  const Tensor query = on_test_device(zeros({1, 4, 0, 8}));
  const Tensor key = on_test_device(zeros({1, 2, 5, 8}));
  const Tensor result =
      scaled_dot_product_attention(query, key, key, {}, false, std::nullopt, /*enable_gqa=*/true);
  EXPECT_EQ(result.shape(), query.shape());
}

TEST(GroupedAttention, DoesNotCopyKeyAndValue) {
  const Tensor q = on_test_device(randn({2, 8, 1, 16}, 1));
  const Tensor k = on_test_device(randn({2, 2, 32, 16}, 2));
  Recorder recorder;
  scaled_dot_product_attention(q, k, k, {}, false, std::nullopt, true);
  for (const auto& op : recorder.ops()) EXPECT_NE(op, "aten::copy_");
}

TEST(Attention, AcceptsMatricesWithoutBatch) {
  const Tensor q = on_test_device(randn({3, 8}, 1));
  const Tensor k = on_test_device(randn({5, 8}, 2));
  const Tensor v = on_test_device(randn({5, 6}, 3));
  const auto with_batch = [](const Tensor& x) {
    return ref::reshape(ref::read(x), {1, 1, x.size(0), x.size(1)});
  };
  const RefTensor want = ref::attention(with_batch(q), with_batch(k), with_batch(v),
                                        ref::expand(ref::scalar(0), {1, 1, 3, 5}), kDefaultScale);
  RefTensor flat = ref::reshape(want, {3, 6});
  EXPECT_TRUE(matches(scaled_dot_product_attention(q, k, v), flat, OpClass::kAttention));
}

TEST(AttentionErrors, NameRuleAndNumbers) {
  const char* op = "scaled_dot_product_attention";
  const Tensor q = f32({2, 4, 3, 8});
  const Tensor k = f32({2, 4, 5, 8});
  const Tensor integers = i64({2, 3});
  const Tensor doubles = f64({2, 4, 5, 8});
  const Tensor narrower = f32({2, 4, 5, 7});
  const Tensor longer = f32({2, 4, 6, 8});
  const Tensor two_heads = f32({2, 2, 5, 8});
  const Tensor three_heads = f32({2, 3, 5, 8});
  const Tensor matrix = f32({3, 8});
  const Tensor mask = f32({3, 5});
  const Tensor narrow_mask = f32({3, 4});
  const Tensor integer_mask = i64({3, 5});
  const auto attend = [](const Tensor& a, const Tensor& b, const Tensor& c) {
    scaled_dot_product_attention(a, b, c);
  };
  const auto masked = [](const Tensor& a, const Tensor& b, const Tensor& bias, bool causal) {
    scaled_dot_product_attention(a, b, b, bias, causal);
  };
  const auto grouped = [](const Tensor& a, const Tensor& b) {
    scaled_dot_product_attention(a, b, b, {}, false, {}, true);
  };
  expect_all_fail({
      {op, {"i64"}, [=] { attend(integers, integers, integers); }},
      {op, {"1"}, [=] { attend(f32({3}), f32({3}), f32({3})); }},
      {op, {"f32", "f64"}, [=] { attend(q, doubles, k); }},
      {op, {"[2, 4, 3, 8]", "[2, 4, 5, 7]"}, [=] { attend(q, narrower, k); }},
      {op, {"[2, 4, 5, 8]", "[2, 4, 6, 8]"}, [=] { attend(q, k, longer); }},
      {op, {"[2, 2, 5, 8]"}, [=] { attend(q, two_heads, two_heads); }},
      {op, {"4", "3", "multiple"}, [=] { grouped(q, three_heads); }},
      {op, {"3", "2"}, [=] { grouped(matrix, matrix); }},
      {op, {"is_causal"}, [=] { masked(q, k, mask, true); }},
      {op, {"[3, 4]"}, [=] { masked(q, k, narrow_mask, false); }},
      {op, {"i64"}, [=] { masked(q, k, integer_mask, false); }},
      {"causal_softmax", {"1", "[3]"}, [] { causal_softmax(f32({3})); }},
      {"causal_softmax", {"i64"}, [=] { causal_softmax(integers); }},
      {"_safe_softmax", {"2", "1"}, [] { _safe_softmax(f32({3}), 2); }},
  });
}

}  // namespace
}  // namespace epi
