// SPDX-License-Identifier: Apache-2.0
// Elements by index and by mask: embedding, gather, index_select, where.
#include <gtest/gtest.h>

#include <cmath>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/mistakes.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

// `count` indices below `size`, with repetitions, not in order.
std::vector<double> some_indices(int64_t count, int64_t size) {
  std::vector<double> indices;
  for (int64_t i = 0; i < count; ++i) {
    indices.push_back(static_cast<double>((i * 7 + i / 3 + 2) % size));
  }
  return indices;
}

// `index` with other strides: every other element of a larger tensor, or a transposed one.
Tensor strided_index(const RefTensor& index, DType dtype, LayoutKind kind) {
  const Tensor dense = tensor_of(index.values, index.shape, dtype);
  if (kind == LayoutKind::kTransposed && index.shape.rank() >= 2) {
    return transpose(contiguous(transpose(dense, 0, -1)), 0, -1);
  }
  if (kind == LayoutKind::kStepped && index.shape.rank() >= 1) {
    const Tensor twice[] = {unsqueeze(dense, -1), unsqueeze(dense, -1)};
    return select(cat(twice, -1), -1, 1);
  }
  return dense;
}

class Indexing : public ::testing::TestWithParam<DType> {
 protected:
  static void expect_select(const Dims& shape, int dim, int64_t count, LayoutKind kind,
                            DType index_dtype) {
    const Tensor x = random_tensor(shape, GetParam(), kind, 1);
    const RefTensor index{{count}, some_indices(count, shape[dim])};
    const Tensor got = index_select(x, dim - shape.rank(), strided_index(index, index_dtype, kind));
    EXPECT_TRUE(same(got, ref::index_select(ref::read(x), dim, index)))
        << to_string(shape) << " along " << dim << " " << name(kind);
    EXPECT_EQ(got.dtype(), GetParam());
    EXPECT_TRUE(got.is_contiguous());
  }

  static void expect_gather(const Dims& shape, int dim, const Dims& index_shape, LayoutKind kind,
                            DType index_dtype) {
    const Tensor x = random_tensor(shape, GetParam(), kind, 2);
    const RefTensor index{index_shape, some_indices(numel(index_shape), shape[dim])};
    const Tensor got = gather(x, dim, strided_index(index, index_dtype, kind));
    EXPECT_TRUE(same(got, ref::gather_along(ref::read(x), dim, index)))
        << to_string(shape) << " along " << dim << " " << name(kind);
  }

  static void expect_where(const Dims& condition_shape, const Dims& x_shape,
                           const Dims& other_shape, LayoutKind kind) {
    const Tensor condition = random_tensor(condition_shape, DType::kBool, kind, 3);
    const Tensor x = random_tensor(x_shape, GetParam(), kind, 4);
    const Tensor other = random_tensor(other_shape, GetParam(), LayoutKind::kContiguous, 5);
    const RefTensor mask = ref::read(condition);
    EXPECT_TRUE(same(where(condition, x, other), ref::where(mask, ref::read(x), ref::read(other))))
        << to_string(condition_shape) << to_string(x_shape) << " " << name(kind);
    EXPECT_TRUE(same(where(condition, x, 1), ref::where(mask, ref::read(x), ref::scalar(1))));
    EXPECT_TRUE(same(where(condition, 1, x), ref::where(mask, ref::scalar(1), ref::read(x))));
  }
};
INSTANTIATE_TEST_SUITE_P(DTypes, Indexing, ::testing::ValuesIn(kAllDTypes), dtype_label);

TEST_P(Indexing, SelectsAlongAnyDimensionAndLayout) {
  for (const Dims& shape : {Dims{7}, Dims{5, 17}, Dims{5, 32}, Dims{3, 4, 5}, Dims{2, 3, 4, 8}}) {
    for (int dim = 0; dim < shape.rank(); ++dim) {
      for (const LayoutKind kind : kAllLayouts) {
        expect_select(shape, dim, 11, kind, DType::kI64);
        expect_select(shape, dim, 1, kind, DType::kI32);
      }
    }
  }
}

TEST_P(Indexing, SelectsEmptyAndScalarIndex) {
  expect_select({5, 3}, 0, 0, LayoutKind::kContiguous, DType::kI64);
  expect_select({5, 0}, 0, 4, LayoutKind::kContiguous, DType::kI64);
  const Tensor x = random_tensor({5, 3}, GetParam(), LayoutKind::kTransposed, 1);
  EXPECT_TRUE(
      same(index_select(x, 0, tensor_of({4}, {}, DType::kI64)), ref::slice(ref::read(x), 0, 4, 5)));
}

TEST_P(Indexing, GathersAlongAnyDimensionAndLayout) {
  for (const LayoutKind kind : kAllLayouts) {
    expect_gather({7}, 0, {11}, kind, DType::kI64);
    expect_gather({5, 17}, 0, {3, 17}, kind, DType::kI32);
    expect_gather({5, 17}, 1, {5, 33}, kind, DType::kI64);
    expect_gather({5, 17}, 1, {2, 3}, kind, DType::kI64);
    expect_gather({3, 4, 5}, 1, {3, 9, 5}, kind, DType::kI64);
    expect_gather({3, 4, 5}, 2, {2, 4, 0}, kind, DType::kI32);
  }
  const Tensor scalar = random_tensor({}, GetParam(), LayoutKind::kContiguous, 1);
  EXPECT_TRUE(same(gather(scalar, 0, tensor_of({0}, {}, DType::kI64)), ref::read(scalar)));
}

TEST_P(Indexing, WhereBroadcastsAllOperandsInAnyLayout) {
  for (const LayoutKind kind : kAllLayouts) {
    expect_where({}, {}, {}, kind);
    expect_where({129}, {129}, {129}, kind);
    expect_where({17, 33}, {33}, {17, 1}, kind);
    expect_where({33}, {17, 1}, {2, 17, 33}, kind);
    expect_where({17, 1}, {}, {33}, kind);
    expect_where({0, 3}, {1, 3}, {3}, kind);
    expect_where({2, 1, 5, 1}, {3, 1, 7}, {5, 7}, kind);
  }
}

TEST_P(Indexing, MatchesReferenceAcrossThreads) {
  expect_select({100, 501}, 0, 301, LayoutKind::kContiguous, DType::kI64);
  expect_select({100, 501}, 1, 777, LayoutKind::kSliced, DType::kI64);
  expect_gather({100, 501}, 1, {100, 777}, LayoutKind::kContiguous, DType::kI64);
  expect_where({67, 1001}, {67, 1001}, {1001}, LayoutKind::kTransposed);
}

TEST(Embedding, ReturnsRowsInTheShapeOfTheIndices) {
  const Tensor weight = random_tensor({11, 6}, DType::kBF16, LayoutKind::kSliced, 1);
  for (const Dims& shape : {Dims{}, Dims{4}, Dims{2, 3}, Dims{2, 3, 4}, Dims{0, 5}}) {
    const RefTensor index{shape, some_indices(numel(shape), 11)};
    Dims want = shape;
    want.push_back(6);
    EXPECT_TRUE(same(embedding(weight, strided_index(index, DType::kI64, LayoutKind::kTransposed)),
                     ref::reshape(ref::index_select(ref::read(weight), 0, index), want)))
        << to_string(shape);
  }
}

TEST(Where, PassesNaNAndInfinityThrough) {
  const Tensor condition = tensor_of({1, 0, 1, 0}, {4}, DType::kBool);
  const Tensor x = tensor_of({NAN, NAN, 1, 2}, {4}, DType::kF32);
  EXPECT_TRUE(same(where(condition, x, -HUGE_VAL), {{4}, {NAN, -HUGE_VAL, 1, -HUGE_VAL}}));
}

TEST(IndexErrors, NameRuleAndNumbers) {
  const Tensor x = f32({3, 4});
  const Tensor index = i64({2});
  const Tensor square = i64({2, 2});
  const Tensor wide = i64({2, 5});
  const Tensor none = f32({0, 4});
  const Tensor cube = f32({2, 3, 4});
  const Tensor mask = flags({3, 4});
  const Tensor doubles = f64({3, 4});
  expect_all_fail({
      {"index_select", {"f32"}, [=] { index_select(x, 0, f32({2})); }},
      {"index_select", {"[2, 2]"}, [=] { index_select(x, 0, square); }},
      {"index_select", {"2"}, [=] { index_select(x, 2, index); }},
      {"index_select", {}, [=] { index_select(f32({}), 0, index); }},
      {"index_select", {"undefined"}, [=] { index_select(x, 0, {}); }},
      {"index_select", {"empty", "[0, 4]"}, [=] { index_select(none, 0, index); }},
      {"index_select", {"cpu", "meta"}, [=] { index_select(meta({3}), 0, index); }},
      {"gather", {"[2]", "[3, 4]"}, [=] { gather(x, 0, index); }},
      {"gather", {"[2, 5]", "[3, 4]"}, [=] { gather(x, 0, wide); }},
      {"gather", {"bool"}, [=] { gather(x, 0, mask); }},
      {"embedding", {"2", "3"}, [=] { embedding(cube, index); }},
      {"embedding", {"f32"}, [=] { embedding(x, f32({2})); }},
      {"where", {"f32"}, [=] { where(x, x, x); }},
      {"where", {"f32", "f64"}, [=] { where(mask, x, doubles); }},
      {"where", {"[5]", "[3, 4]"}, [=] { where(flags({5}), x, x); }},
      {"where", {"[3, 4]", "[5]"}, [=] { where(mask, x, f32({5})); }},
      {"where", {"0.5", "i64"}, [=] { where(flags({2}), index, 0.5); }},
  });
}

// A GPU kernel cannot throw: it stops, and the device is lost for the process.
TEST(IndexErrors, NameIndexOutOfRangeOnTheCpu) {
  const Tensor x = f32({3, 4});
  const auto index = [](int64_t value) {
    return full({1, 4}, static_cast<double>(value), {DType::kI64, kCpu});
  };
  expect_all_fail({
      {"index_select", {"3"}, [=] { index_select(x, 0, select(index(3), 1, 0)); }},
      {"index_select", {"-1", "4"}, [=] { index_select(x, 1, select(index(-1), 0, 0)); }},
      {"gather", {"7", "3"}, [=] { gather(x, 0, index(7)); }},
      {"gather", {"4"}, [=] { gather(x, 1, index(4)); }},
      {"index_select", {"100", "3"}, [=] { embedding(x, index(100)); }},
  });
}

}  // namespace
}  // namespace epi
