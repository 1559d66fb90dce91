// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

class Cat : public ::testing::TestWithParam<DType> {
 protected:
  // Concatenates tensors of `shape` along `dim`, each with another
  // layout and the next size of `sizes`.
  static void expect_reference(const Dims& shape, int dim, const std::vector<int64_t>& sizes) {
    std::vector<Tensor> parts;
    std::vector<RefTensor> references;
    for (size_t i = 0; i < sizes.size(); ++i) {
      Dims part = shape;
      part[dim] = sizes[i];
      parts.push_back(random_tensor(part, GetParam(), kAllLayouts[i % std::size(kAllLayouts)], i));
      references.push_back(ref::read(parts.back()));
    }
    const Tensor got = cat(parts, dim - shape.rank());
    EXPECT_TRUE(same(got, ref::cat(references, dim))) << to_string(shape) << " along " << dim;
    EXPECT_EQ(got.dtype(), GetParam());
    EXPECT_TRUE(got.is_contiguous());
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, Cat, ::testing::ValuesIn(kAllDTypes), dtype_label);

TEST_P(Cat, ConcatenatesAnyLayoutsAlongAnyDimension) {
  for (const Dims& shape : {Dims{7}, Dims{5, 17}, Dims{3, 4, 5}}) {
    for (int dim = 0; dim < shape.rank(); ++dim) {
      expect_reference(shape, dim, {1, 3, 7, 2, 17, 5, 9});
    }
  }
}

TEST_P(Cat, SkipsEmptyTensors) {
  expect_reference({5, 17}, 0, {0, 3, 0, 2});
  expect_reference({5, 17}, 1, {3, 0});
  expect_reference({5, 17}, 1, {0, 0});
  expect_reference({0, 17}, 1, {2, 3});
}

TEST_P(Cat, MatchesReferenceAcrossThreads) {
  expect_reference({100, 501}, 0, {100, 65, 33});
  expect_reference({100, 501}, 1, {501, 1, 300, 63});
}

TEST(Cat, CopiesSingleTensor) {
  const Tensor x = on_test_device(randn({3, 5}, 1));
  const std::vector<Tensor> one = {x};
  const Tensor got = cat(one);
  EXPECT_TRUE(same(got, ref::read(x)));
  EXPECT_NE(got.storage(), x.storage());
}

TEST(Cat, RepeatsTensorConcatenatedWithItself) {
  const Tensor x = on_test_device(randn({3, 5}, 2));
  const std::vector<Tensor> twice = {x, x};
  const std::vector<RefTensor> references = {ref::read(x), ref::read(x)};
  EXPECT_TRUE(same(cat(twice, 1), ref::cat(references, 1)));
}

}  // namespace
}  // namespace epi
