// SPDX-License-Identifier: Apache-2.0
// Invalid operands: mixed dtypes and devices, undefined tensors, and arguments that pointwise and
// row operators reject.
#include <gtest/gtest.h>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/mistakes.h"

namespace epi {
namespace {

TEST(DTypeErrors, MixedDTypesAreRejected) {
  const Tensor a = f32({3, 3});
  const Tensor b = f64({3, 3});
  const Tensor batch = f32({2, 3, 3});
  expect_all_fail({
      {"add", {"f32", "f64"}, [=] { add(a, b); }},
      {"sub", {"f32", "f64"}, [=] { sub(a, b); }},
      {"mul", {"f32", "i64"}, [=] { mul(a, i64({3})); }},
      {"div", {"f32", "f64"}, [=] { div(a, b); }},
      {"mm", {"f32", "f64"}, [=] { mm(a, b); }},
      {"bmm", {"f32", "f64"}, [=] { bmm(batch, f64({2, 3, 3})); }},
      {"matmul", {"f32", "f64"}, [=] { matmul(a, b); }},
      {"addmm", {"f64", "f32"}, [=] { addmm(b, a, a); }},
      {"addmm", {"f32", "f64"}, [=] { addmm(a, a, b); }},
      {"linear", {"f32", "f64"}, [=] { linear(a, b); }},
      {"linear", {"f32", "f64"}, [=] { linear(a, a, f64({3})); }},
      {"layer_norm", {"f32", "f64"}, [=] { layer_norm(a, {3}, f64({3})); }},
      {"layer_norm", {"f32", "f64"}, [=] { layer_norm(a, {3}, {}, f64({3})); }},
      {"rms_norm", {"f32", "f64"}, [=] { rms_norm(a, {3}, f64({3})); }},
      {"cat", {"f32", "f64"}, [=] { cat(std::vector<Tensor>{a, b}); }},
  });
}

TEST(DTypeErrors, FloatingOperatorsRejectIntegersAndBool) {
  for (const Tensor& x : {i64({3, 3}), zeros({3, 3}, {DType::kI32, kCpu}), flags({3, 3})}) {
    const std::string_view dtype = name(x.dtype());
    expect_all_fail({
        {"exp", {dtype}, [=] { exp(x); }},
        {"tanh", {dtype}, [=] { tanh(x); }},
        {"sigmoid", {dtype}, [=] { sigmoid(x); }},
        {"silu", {dtype}, [=] { silu(x); }},
        {"gelu", {dtype}, [=] { gelu(x); }},
        {"div", {dtype}, [=] { div(x, x); }},
        {"div", {dtype}, [=] { div(x, 2); }},
        {"mean", {dtype}, [=] { mean(x); }},
        {"softmax", {dtype}, [=] { softmax(x, 0); }},
        {"layer_norm", {dtype}, [=] { layer_norm(x, {3}); }},
        {"rms_norm", {dtype}, [=] { rms_norm(x, {3}); }},
        {"mm", {dtype}, [=] { mm(x, x); }},
        {"addmm", {dtype}, [=] { addmm(x, x, x); }},
        {"matmul", {dtype}, [=] { matmul(x, x); }},
        {"linear", {dtype}, [=] { linear(x, x); }},
    });
  }
}

TEST(DTypeErrors, ArithmeticRejectsBoolAndFractionalScalars) {
  const Tensor x = flags({3});
  const Tensor n = i64({3});
  expect_all_fail({
      {"add", {"bool"}, [=] { add(x, x); }},
      {"add", {"bool"}, [=] { add(x, 1); }},
      {"sub", {"bool"}, [=] { sub(x, x); }},
      {"mul", {"bool"}, [=] { mul(x, x); }},
      {"neg", {"bool"}, [=] { neg(x); }},
      {"relu", {"bool"}, [=] { relu(x); }},
      {"amax", {"bool"}, [=] { amax(x); }},
      {"add", {"1.5", "i64"}, [=] { add(n, 1.5); }},
      {"add", {"0.5", "i64"}, [=] { add(n, n, 0.5); }},
      {"sub", {"2.5", "i64"}, [=] { sub(n, 1, 2.5); }},
      {"mul", {"0.25", "i64"}, [=] { mul(n, 0.25); }},
      {"add", {"i32"}, [] { add(zeros({3}, {DType::kI32, kCpu}), 3e9); }},
      {"sub", {"i32"}, [] { sub(zeros({3}, {DType::kI32, kCpu}), 1, -3e9); }},
  });
}

TEST(DeviceErrors, NameBothDevices) {
  const Tensor a = f32({3, 3});
  const Tensor b = meta({3, 3});
  expect_all_fail({
      {"add", {"cpu", "meta"}, [=] { add(a, b); }},
      {"mul", {"meta", "cpu"}, [=] { mul(b, a); }},
      {"div", {"cpu", "meta"}, [=] { div(a, b); }},
      {"mm", {"cpu", "meta"}, [=] { mm(a, b); }},
      {"addmm", {"meta", "cpu"}, [=] { addmm(b, a, a); }},
      {"addmm", {"cpu", "meta"}, [=] { addmm(a, a, b); }},
      {"bmm", {"cpu", "meta"}, [=] { bmm(f32({1, 3, 3}), meta({1, 3, 3})); }},
      {"matmul", {"cpu", "meta"}, [=] { matmul(a, b); }},
      {"linear", {"cpu", "meta"}, [=] { linear(a, b); }},
      {"linear", {"cpu", "meta"}, [=] { linear(a, a, meta({3})); }},
      {"layer_norm", {"cpu", "meta"}, [=] { layer_norm(a, {3}, meta({3})); }},
      {"rms_norm", {"cpu", "meta"}, [=] { rms_norm(a, {3}, meta({3})); }},
      {"cat", {"cpu", "meta"}, [=] { cat(std::vector<Tensor>{a, b}); }},
  });
}

TEST(UndefinedTensors, AreRejectedWithOperatorName) {
  const Tensor x = f32({3, 3});
  const Tensor none;
  expect_all_fail({
      {"add", {}, [=] { add(none, x); }},
      {"add", {}, [=] { add(x, none); }},
      {"mul", {}, [=] { mul(none, 2); }},
      {"div", {}, [=] { div(x, none); }},
      {"exp", {}, [=] { exp(none); }},
      {"relu", {}, [=] { relu(none); }},
      {"mm", {}, [=] { mm(x, none); }},
      {"addmm", {}, [=] { addmm(none, x, x); }},
      {"matmul", {}, [=] { matmul(none, x); }},
      {"linear", {}, [=] { linear(x, none); }},
      {"sum", {}, [=] { sum(none); }},
      {"softmax", {}, [=] { softmax(none, 0); }},
      {"view", {}, [=] { view(none, {1}); }},
      {"transpose", {}, [=] { transpose(none, 0, 1); }},
      {"copy_", {}, [=] { copy_(x, none); }},
      {"rms_norm", {}, [=] { rms_norm(none, {3}); }},
      {"cat", {}, [=] { cat(std::vector<Tensor>{x, none}); }},
  });
}

TEST(PointwiseErrors, NameShapesThatDoNotBroadcast) {
  const Tensor x = f32({3, 4});
  expect_all_fail({
      {"add", {"[3, 4]", "[5]", "4"}, [=] { add(x, f32({5})); }},
      {"sub", {"[3, 4]", "[2, 1]"}, [=] { sub(x, f32({2, 1})); }},
      {"mul", {"[3, 4]", "[0, 4]"}, [=] { mul(x, f32({0, 4})); }},
      {"div", {"[3, 4]", "[3]"}, [=] { div(x, f32({3})); }},
      {"gelu", {"erf"}, [=] { gelu(x, "erf"); }},
      {"gelu", {"\"\""}, [=] { gelu(x, ""); }},
  });
}

TEST(RowErrors, NameDimensionsAndShapes) {
  const Tensor x = f32({3, 4});
  expect_all_fail({
      {"sum", {"2"}, [=] { sum(x, {2}); }},
      {"sum", {"1", "[1, -1]"}, [=] { sum(x, {1, -1}); }},
      {"mean", {"-3"}, [=] { mean(x, {-3}); }},
      {"amax", {"5"}, [=] { amax(x, {5}); }},
      {"amax", {"1", "[3, 0]"}, [] { amax(f32({3, 0}), {1}); }},
      {"amax", {"[0]"}, [] { amax(f32({0})); }},
      {"softmax", {"2"}, [=] { softmax(x, 2); }},
      {"layer_norm", {"[3, 4]", "[5]"}, [=] { layer_norm(x, {5}); }},
      {"layer_norm", {"[3, 4]", "[1, 3, 4]"}, [=] { layer_norm(x, {1, 3, 4}); }},
      {"layer_norm", {"[]"}, [=] { layer_norm(x, {}); }},
      {"layer_norm", {"weight", "[5]", "[4]"}, [=] { layer_norm(x, {4}, f32({5})); }},
      {"layer_norm", {"bias", "[1]", "[4]"}, [=] { layer_norm(x, {4}, {}, f32({1})); }},
      {"rms_norm", {"[3, 4]", "[3]"}, [=] { rms_norm(x, {3}); }},
      {"rms_norm", {"weight", "[3]", "[4]"}, [=] { rms_norm(x, {4}, f32({3})); }},
  });
}

TEST(CatErrors, NameMismatchedTensor) {
  const Tensor x = f32({3, 4});
  expect_all_fail({
      {"cat", {}, [] { cat({}); }},
      {"cat", {"1", "[3, 5]", "[3, 4]"}, [=] { cat(std::vector<Tensor>{x, f32({3, 5})}, 0); }},
      {"cat", {"2", "[12]"}, [=] { cat(std::vector<Tensor>{x, x, f32({12})}); }},
      {"cat", {"2"}, [=] { cat(std::vector<Tensor>{x, x}, 2); }},
      {"cat", {}, [] { cat(std::vector<Tensor>{f32({}), f32({})}); }},
  });
}

}  // namespace
}  // namespace epi
