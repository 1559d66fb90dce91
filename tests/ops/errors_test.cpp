// SPDX-License-Identifier: Apache-2.0
// Invalid calls of views, copies and GEMMs throw an `Error` that names the operator and the
// conflicting numbers. Operands, pointwise and row operators: operand_errors_test.cpp.
#include <gtest/gtest.h>

#include <limits>

#include "epilogue/ops/functional.h"
#include "tests/ops/mistakes.h"

namespace epi {
namespace {

TEST(ViewErrors, NameDimensionAndRank) {
  const Tensor x = f32({3, 4});
  expect_all_fail({
      {"transpose", {"5", "2"}, [=] { transpose(x, 5, 0); }},
      {"transpose", {"-3", "2"}, [=] { transpose(x, 0, -3); }},
      {"narrow", {"2"}, [=] { narrow(x, 2, 0, 1); }},
      {"select", {"-3", "2"}, [=] { select(x, -3, 0); }},
      {"slice", {"7", "2"}, [=] { slice(x, 7, 0, 1); }},
      {"squeeze", {"4", "2"}, [=] { squeeze(x, 4); }},
      {"unsqueeze", {"4"}, [=] { unsqueeze(x, 4); }},
      {"flatten", {"3", "2"}, [=] { flatten(x, 0, 3); }},
      {"flatten", {"1", "0"}, [=] { flatten(x, 1, 0); }},
      {"permute", {"3", "2"}, [=] { permute(x, {0, 1, 2}); }},
      {"permute", {"1"}, [=] { permute(x, {1, 1}); }},
      {"permute", {"1"}, [=] { permute(x, {1, -1}); }},
      {"permute", {"9", "2"}, [=] { permute(x, {0, 9}); }},
      {"t", {"3"}, [=] { t(f32({2, 3, 4})); }},
  });
}

TEST(ViewErrors, NameRangeAndSize) {
  const Tensor x = f32({3, 4});
  expect_all_fail({
      {"select", {"4", "1"}, [=] { select(x, 1, 4); }},
      {"select", {"-5", "4"}, [=] { select(x, 1, -5); }},
      {"select", {"0"}, [=] { select(f32({0}), 0, 0); }},
      {"select", {}, [=] { select(f32({}), 0, 0); }},
      {"narrow", {"2", "3", "4"}, [=] { narrow(x, 1, 2, 3); }},
      {"narrow", {"-5", "4"}, [=] { narrow(x, 1, -5, 1); }},
      {"narrow", {"-1"}, [=] { narrow(x, 1, 0, -1); }},
      {"narrow", {}, [=] { narrow(f32({}), 0, 0, 1); }},
      {"slice", {"0"}, [=] { slice(x, 0, 0, 3, 0); }},
      {"slice", {"-1"}, [=] { slice(x, 0, 0, 3, -1); }},
      {"slice", {}, [=] { slice(f32({}), 0, 0, 1); }},
  });
}

TEST(ViewErrors, NameIncompatibleShapes) {
  const Tensor x = f32({3, 4});
  const Tensor transposed = t(x);
  expect_all_fail({
      {"view", {"[5]", "[3, 4]"}, [=] { view(x, {5}); }},
      {"view", {"[-1, 5]", "12"}, [=] { view(x, {-1, 5}); }},
      {"view", {"[-1, -1]"}, [=] { view(x, {-1, -1}); }},
      {"view", {"[-2, 6]"}, [=] { view(x, {-2, 6}); }},
      {"view", {"[-1, 0]"}, [=] { view(f32({0}), {-1, 0}); }},
      {"view", {"[12]", "[4, 3]", "[1, 4]"}, [=] { view(transposed, {12}); }},
      {"_unsafe_view", {"[12]", "[4, 3]"}, [=] { _unsafe_view(transposed, {12}); }},
      {"_unsafe_view", {"[5]", "[3, 4]"}, [=] { _unsafe_view(x, {5}); }},
      {"reshape", {"[7]", "12", "[3, 4]"}, [=] { reshape(x, {7}); }},
      {"reshape", {"[-1, 5]", "12"}, [=] { reshape(x, {-1, 5}); }},
      {"reshape", {"[-1, -1]"}, [=] { reshape(x, {-1, -1}); }},
      {"reshape", {"[-1, 0]"}, [=] { reshape(f32({0}), {-1, 0}); }},
      {"expand", {"[3, 4]", "[3, 5]"}, [=] { expand(x, {3, 5}); }},
      {"expand", {"[3, 4]", "[4]"}, [=] { expand(x, {4}); }},
      {"expand", {"-1"}, [=] { expand(x, {-1, 3, 4}); }},
      {"expand", {"-2"}, [=] { expand(x, {3, -2}); }},
  });
}

TEST(ViewErrors, AsStridedOutOfStorageIsRejected) {
  const Tensor x = f32({12});
  constexpr int64_t kHuge = std::numeric_limits<int64_t>::max() / 2;
  expect_all_fail({
      {"as_strided", {"[13]", "12"}, [=] { as_strided(x, {13}, {1}); }},
      {"as_strided", {"[4]", "[4]", "12"}, [=] { as_strided(x, {4}, {4}); }},
      {"as_strided", {"12"}, [=] { as_strided(x, {}, {}, 12); }},
      {"as_strided", {"-1"}, [=] { as_strided(x, {2}, {1}, -1); }},
      {"as_strided", {"[-2]"}, [=] { as_strided(x, {3}, {-2}, 1); }},
      {"as_strided", {"2", "1"}, [=] { as_strided(x, {2, 2}, {1}); }},
      {"as_strided", {"-3"}, [=] { as_strided(x, {-3}, {1}); }},
      {"as_strided", {"12"}, [=] { as_strided(x, {1}, {1}, kHuge); }},
  });
  EXPECT_THROW(as_strided(x, {3, 3}, {kHuge, kHuge}), Error);  // the span itself overflows
}

TEST(ViewErrors, NinthDimensionIsRejected) {
  const Tensor x = f32({1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_THROW(unsqueeze(x, 0), Error);
}

TEST(CopyErrors, NameShapesAndDevices) {
  expect_all_fail({
      {"copy_", {"[5]", "[3, 4]"}, [] { copy_(f32({3, 4}), f32({5})); }},
      {"copy_", {"[2, 3, 4]", "[3, 4]"}, [] { copy_(f32({3, 4}), f32({2, 3, 4})); }},
      {"copy_", {"cpu", "meta"}, [] { copy_(f32({3}), meta({3})); }},
      {"copy_", {"0", "broadcast"}, [] { copy_(expand(f32({1}), {4}), f32({4})); }},
      {"clone", {}, [] { clone({}); }},
      {"contiguous", {}, [] { contiguous({}); }},
      {"to", {}, [] { to({}, DType::kF32); }},
  });
}

TEST(GemmErrors, NameBothShapes) {
  expect_all_fail({
      {"mm", {"[3, 4]", "[5, 6]"}, [] { mm(f32({3, 4}), f32({5, 6})); }},
      {"mm", {"2", "1", "[4]"}, [] { mm(f32({3, 4}), f32({4})); }},
      {"mm", {"2", "3"}, [] { mm(f32({2, 3, 4}), f32({4, 5})); }},
      {"addmm", {"[3, 4]", "[5, 6]"}, [] { addmm(f32({6}), f32({3, 4}), f32({5, 6})); }},
      {"addmm", {"[7]", "[3, 6]"}, [] { addmm(f32({7}), f32({3, 4}), f32({4, 6})); }},
      {"addmm", {"[1, 3, 6]"}, [] { addmm(f32({1, 3, 6}), f32({3, 4}), f32({4, 6})); }},
      {"addmm", {"2", "3"}, [] { addmm(f32({6}), f32({1, 3, 4}), f32({4, 6})); }},
      {"bmm", {"[2, 3, 4]", "[2, 5, 6]"}, [] { bmm(f32({2, 3, 4}), f32({2, 5, 6})); }},
      {"bmm", {"2", "7"}, [] { bmm(f32({2, 3, 4}), f32({7, 4, 6})); }},
      {"bmm", {"3", "2"}, [] { bmm(f32({2, 3, 4}), f32({4, 6})); }},
      {"matmul", {"[3, 4]", "[5, 6]"}, [] { matmul(f32({3, 4}), f32({5, 6})); }},
      {"matmul", {"[4]", "[5]"}, [] { matmul(f32({4}), f32({5})); }},
      {"matmul", {"2", "7"}, [] { matmul(f32({2, 3, 4}), f32({7, 4, 6})); }},
      {"matmul", {"[]", "[4]"}, [] { matmul(f32({}), f32({4})); }},
      {"linear", {"[3, 4]", "[6, 5]"}, [] { linear(f32({3, 4}), f32({6, 5})); }},
      {"linear", {"[7]", "[6, 4]"}, [] { linear(f32({3, 4}), f32({6, 4}), f32({7})); }},
      {"linear", {"2", "[4]"}, [] { linear(f32({3, 4}), f32({4})); }},
      {"linear", {}, [] { linear(f32({}), f32({6, 4})); }},
  });
}

}  // namespace
}  // namespace epi
