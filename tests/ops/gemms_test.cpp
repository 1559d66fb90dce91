// SPDX-License-Identifier: Apache-2.0
// mm, addmm, _addmm_activation and bmm. `matmul` and `linear`: matmul_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

// Row-major (n) and transposed (t): the layouts that a GEMM reads without a copy.
constexpr LayoutKind kGemmLayouts[] = {LayoutKind::kContiguous, LayoutKind::kTransposed};

class Gemm : public ::testing::TestWithParam<DType> {
 protected:
  static void expect_mm(int64_t m, int64_t n, int64_t k, LayoutKind left, LayoutKind right) {
    const Tensor a = random_tensor({m, k}, GetParam(), left, 1);
    const Tensor b = random_tensor({k, n}, GetParam(), right, 2);
    const Tensor got = mm(a, b);
    EXPECT_TRUE(matches(got, ref::mm(ref::read(a), ref::read(b)), OpClass::kGemm))
        << m << "x" << n << "x" << k << " " << name(left) << " " << name(right);
    EXPECT_EQ(got.dtype(), GetParam());
    EXPECT_TRUE(got.is_contiguous());
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, Gemm, ::testing::ValuesIn(kFloats), dtype_label);

TEST_P(Gemm, MatchesReferenceForSizesAndTranspositions) {
  for (const int64_t m : {1, 2, 3, 4, 5, 17, 64, 129}) {
    for (const int64_t n : {1, 3, 16, 33, 64, 127}) {
      for (const int64_t k : {1, 7, 32, 65}) {
        for (const LayoutKind left : kGemmLayouts) {
          for (const LayoutKind right : kGemmLayouts) expect_mm(m, n, k, left, right);
        }
      }
    }
  }
}

TEST_P(Gemm, MatchesReferenceForLayoutsThatNeedCopies) {
  for (const LayoutKind left : kAllLayouts) {
    for (const LayoutKind right : kAllLayouts) {
      expect_mm(1, 33, 17, left, right);
      expect_mm(5, 1, 63, left, right);
      expect_mm(17, 33, 63, left, right);
    }
  }
}

TEST_P(Gemm, MatchesReferenceAcrossThreads) {
  for (const LayoutKind left : kGemmLayouts) {
    for (const LayoutKind right : kGemmLayouts) expect_mm(129, 257, 513, left, right);
  }
  expect_mm(1, 1025, 777, LayoutKind::kContiguous, LayoutKind::kTransposed);
  expect_mm(1, 1025, 777, LayoutKind::kContiguous, LayoutKind::kContiguous);
  expect_mm(3, 1025, 777, LayoutKind::kContiguous, LayoutKind::kTransposed);
  expect_mm(2, 5000, 9, LayoutKind::kContiguous, LayoutKind::kTransposed);
  expect_mm(2, 5000, 9, LayoutKind::kContiguous, LayoutKind::kContiguous);
}

TEST_P(Gemm, EmptyInnerSizeGivesZeros) {
  expect_mm(3, 5, 0, LayoutKind::kContiguous, LayoutKind::kContiguous);
  expect_mm(1, 5, 0, LayoutKind::kContiguous, LayoutKind::kContiguous);
  expect_mm(0, 5, 3, LayoutKind::kContiguous, LayoutKind::kContiguous);
  expect_mm(3, 0, 5, LayoutKind::kContiguous, LayoutKind::kContiguous);
}

TEST_P(Gemm, KeepsNaNAndInfinity) {
  const double inf = std::numeric_limits<double>::infinity();
  for (const int64_t rows : {1, 9}) {
    const Tensor a = full({rows, 4}, 1, {GetParam(), test_device()});
    const Tensor b = tensor_of({inf, inf, 0, 1, inf, 1, -inf, 1}, {4, 2}, GetParam());
    const Tensor got = mm(a, b);
    EXPECT_TRUE(same(got, ref::expand({{2}, {std::nan(""), inf}}, {rows, 2}))) << rows;
  }
}

// Accumulated in the 16-bit dtype, a sum of 0.5s would stop growing at 128 (bf16) or 1024 (f16).
TEST_P(Gemm, AccumulatesInF32) {
  constexpr int64_t kTerms = 8193;
  for (const int64_t rows : {1, 9}) {
    const Tensor a = full({rows, kTerms}, 1, {GetParam(), test_device()});
    const Tensor b = full({kTerms, 3}, 0.5, {GetParam(), test_device()});
    const double want = ref::rounded(kTerms * 0.5, GetParam());
    EXPECT_TRUE(same(mm(a, b), ref::expand(ref::scalar(want), {rows, 3}))) << rows;
  }
}

class Addmm : public ::testing::TestWithParam<DType> {
 protected:
  static constexpr int64_t kN = 33;
  static constexpr int64_t kK = 65;

  static void expect_addmm(int64_t m, const Dims& self_shape, LayoutKind kind, double beta,
                           double alpha) {
    const Tensor self = random_tensor(self_shape, GetParam(), kind, 3);
    for (const LayoutKind right : kGemmLayouts) {
      const Tensor a = random_tensor({m, kK}, GetParam(), LayoutKind::kContiguous, 4);
      const Tensor b = random_tensor({kK, kN}, GetParam(), right, 5);
      const RefTensor want = ref::addmm(ref::read(self), ref::read(a), ref::read(b), beta, alpha);
      EXPECT_TRUE(matches(addmm(self, a, b, beta, alpha), want, OpClass::kGemm))
          << to_string(self_shape) << " " << name(kind) << " m " << m << " beta " << beta
          << " alpha " << alpha;
    }
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, Addmm, ::testing::ValuesIn(kFloats), dtype_label);

// Sizes that use the GEMM's epilogue (n and k multiples of a vector,
// a bias row) and sizes that do not.
TEST_P(Addmm, AppliesActivation) {
  const double unit = GetParam() == DType::kBF16 ? 0x1p-8 : GetParam() == DType::kF16 ? 0x1p-11 : 0;
  for (const Dims& sizes : {Dims{5, 64, 96}, Dims{33, 7, 9}, Dims{128, 128, 64}}) {
    const int64_t m = sizes[0];
    const int64_t n = sizes[1];
    const int64_t k = sizes[2];
    for (const Dims& self_shape : {Dims{n}, Dims{m, n}}) {
      const Tensor self = random_tensor(self_shape, GetParam(), LayoutKind::kContiguous, 3);
      const Tensor a = random_tensor({m, k}, GetParam(), LayoutKind::kContiguous, 4);
      const Tensor b = t(random_tensor({n, k}, GetParam(), LayoutKind::kContiguous, 5));
      const auto read = ref::read(std::vector<Tensor>{self, a, b});
      const auto relu = ref::addmm_activation(read[0], read[1], read[2], 1, 1, ref::relu);
      EXPECT_TRUE(matches(_addmm_activation(self, a, b), relu, OpClass::kGemm)) << m;
      // The input of gelu may be rounded to the dtype, and in bf16 tanh is accurate to 2^-11, so
      // errors grow with the sum.
      const RefTensor sum = ref::addmm(read[0], read[1], read[2]);
      const RefTensor got = ref::read(_addmm_activation(self, a, b, 1, 1, true));
      const double exact = GetParam() == DType::kF64 ? 0x1p-44 : 0x1p-20;
      for (size_t i = 0; i < got.values.size(); ++i) {
        const double want = ref::gelu_tanh(sum.values[i]);
        ASSERT_NEAR(
            got.values[i], want,
            1.2 * unit * std::abs(sum.values[i]) + unit * std::abs(want) + exact * sum.scales[i]);
      }
    }
  }
}

TEST_P(Addmm, ActivationKeepsNaNAndInfinity) {
  Tensor a = zeros({4, 64}, {GetParam(), kCpu});
  const double specials[] = {std::nan(""), INFINITY, -INFINITY, -1};
  for (int64_t row = 0; row < 4; ++row)
    copy_(select(select(a, 0, row), 0, 0), full({}, specials[row], {GetParam(), kCpu}));
  a = to(a, test_device());
  const Tensor b = full({64, 64}, 1, {GetParam(), test_device()});
  const Tensor bias = zeros({64}, {GetParam(), test_device()});
  const RefTensor got = ref::read(_addmm_activation(bias, a, b));
  for (size_t column = 0; column < 64; ++column) {
    EXPECT_TRUE(std::isnan(got.values[column])) << column;
    EXPECT_EQ(got.values[64 + column], INFINITY) << column;
    EXPECT_EQ(got.values[128 + column], 0) << column;
    EXPECT_EQ(got.values[192 + column], 0) << column;
  }
}

TEST_P(Addmm, BroadcastsSelf) {
  for (const int64_t m : {1, 4, 17}) {
    for (const Dims& shape : {Dims{kN}, Dims{m, kN}, Dims{1, kN}, Dims{m, 1}, Dims{1}, Dims{}}) {
      for (const LayoutKind kind : kAllLayouts) expect_addmm(m, shape, kind, 1, 1);
    }
  }
}

TEST_P(Addmm, AppliesAlphaAndBeta) {
  for (const int64_t m : {1, 17}) {
    for (const Dims& shape : {Dims{kN}, Dims{m, kN}}) {
      expect_addmm(m, shape, LayoutKind::kContiguous, 0.5, 1);
      expect_addmm(m, shape, LayoutKind::kContiguous, 1, -2);
      expect_addmm(m, shape, LayoutKind::kStepped, -1.5, 0.25);
      expect_addmm(m, shape, LayoutKind::kContiguous, 0, 1);
    }
  }
}

TEST_P(Addmm, IgnoresNaNInSelfIfBetaIsZero) {
  const Tensor self = full({kN}, std::nan(""), {GetParam(), test_device()});
  for (const int64_t m : {1, 17}) {
    const Tensor a = random_tensor({m, kK}, GetParam(), LayoutKind::kContiguous, 4);
    const Tensor b = random_tensor({kK, kN}, GetParam(), LayoutKind::kContiguous, 5);
    const RefTensor want = ref::mm(ref::read(a), ref::read(b));
    EXPECT_TRUE(matches(addmm(self, a, b, 0, 1), want, OpClass::kGemm)) << m;
  }
}

TEST_P(Addmm, EmptyInnerSizeGivesScaledSelf) {
  const Tensor self = random_tensor({kN}, GetParam(), LayoutKind::kContiguous, 6);
  const TensorOptions options{GetParam(), test_device()};
  for (const int64_t m : {1, 4, 7}) {
    const Tensor got = addmm(self, zeros({m, 0}, options), zeros({0, kN}, options), 0.5);
    const RefTensor half = ref::mul(ref::read(self), ref::scalar(0.5));
    EXPECT_TRUE(matches(got, ref::expand(half, {m, kN}), OpClass::kArithmetic)) << m;
  }
}

TEST_P(Addmm, DoesNotModifyInputs) {
  const Tensor self = random_tensor({17, kN}, GetParam(), LayoutKind::kContiguous, 6);
  const RefTensor before = ref::read(self);
  const Tensor a = random_tensor({17, kK}, GetParam(), LayoutKind::kContiguous, 4);
  const Tensor got = addmm(self, a, random_tensor({kK, kN}, GetParam(), LayoutKind::kSliced, 5));
  EXPECT_NE(got.storage(), self.storage());
  EXPECT_TRUE(same(self, before));
}

class Bmm : public ::testing::TestWithParam<DType> {};
INSTANTIATE_TEST_SUITE_P(DTypes, Bmm, ::testing::ValuesIn(kFloats), dtype_label);

TEST_P(Bmm, MultipliesEachPairOfMatrices) {
  const std::vector<Dims> sizes = {{1, 1, 1, 1}, {3, 5, 7, 17}, {5, 1, 33, 65}, {2, 65, 1, 33},
                                   {0, 3, 4, 5}, {3, 0, 4, 5},  {3, 4, 5, 0},   {9, 17, 33, 31}};
  for (const Dims& bmnk : sizes) {
    for (const LayoutKind left : kAllLayouts) {
      for (const LayoutKind right : kAllLayouts) {
        const Tensor a = random_tensor({bmnk[0], bmnk[1], bmnk[3]}, GetParam(), left, 7);
        const Tensor b = random_tensor({bmnk[0], bmnk[3], bmnk[2]}, GetParam(), right, 8);
        const RefTensor want = ref::bmm(ref::read(a), ref::read(b));
        EXPECT_TRUE(matches(bmm(a, b), want, OpClass::kGemm))
            << to_string(bmnk) << " " << name(left) << " " << name(right);
      }
    }
  }
}

}  // namespace
}  // namespace epi
