// SPDX-License-Identifier: Apache-2.0
// The pointwise operators as data: the call and its reference. The tests of pointwise operators
// iterate over these tables. table_test.cpp fails if a function has no case here.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "epilogue/ops/functional.h"
#include "epilogue/pointwise/table.h"
#include "tests/ops/layouts.h"
#include "tests/ops/reference.h"
#include "tests/ops/tolerance.h"

namespace epi {

using pointwise::Function;

// A function of one tensor, with its scalars filled in. The members are in the order of reading.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding)
struct UnaryCase {
  const char* label;
  Function function;
  Tensor (*run)(const Tensor&);
  RefTensor (*reference)(const RefTensor&);
  OpClass op_class;
  // Upper bound of |f'|: how much the function can amplify an error of its
  // input. Infinite for unbounded derivatives.
  double slope;
};

inline void PrintTo(const UnaryCase& op, std::ostream* out) { *out << op.label; }

template <ref::Unary f>
RefTensor mapped(const RefTensor& x) {
  return ref::map(x, f);
}

inline const UnaryCase kUnaryCases[] = {
    {"neg", Function::kNeg, neg, mapped<[](double x) { return -x; }>, OpClass::kExact, 1},
    {"relu", Function::kRelu, relu, mapped<ref::relu>, OpClass::kExact, 1},
    {"erf", Function::kErf, erf, mapped<std::erf>, OpClass::kPointwise, 1.13},
    {"exp", Function::kExp, exp, mapped<std::exp>, OpClass::kPointwise, HUGE_VAL},
    {"cos", Function::kCos, cos, mapped<std::cos>, OpClass::kPointwise, 1},
    {"sin", Function::kSin, sin, mapped<std::sin>, OpClass::kPointwise, 1},
    {"rsqrt", Function::kRsqrt, rsqrt, mapped<[](double x) { return 1 / std::sqrt(x); }>,
     OpClass::kPointwise, HUGE_VAL},
    {"tanh", Function::kTanh, tanh, mapped<std::tanh>, OpClass::kPointwise, 1},
    {"sigmoid", Function::kSigmoid, sigmoid, mapped<ref::sigmoid>, OpClass::kPointwise, 0.25},
    {"silu", Function::kSilu, silu, mapped<ref::silu>, OpClass::kPointwise, 1.1},
    {"gelu", Function::kGelu, [](const Tensor& x) { return gelu(x); },
     [](const RefTensor& x) { return ref::gelu(x, false); }, OpClass::kGelu, 1.13},
    {"geluTanh", Function::kGeluTanh, [](const Tensor& x) { return gelu(x, "tanh"); },
     [](const RefTensor& x) { return ref::gelu(x, true); }, OpClass::kGelu, 1.13},
    {"clamp", Function::kClamp, [](const Tensor& x) { return clamp(x, -1, 2); },
     mapped<[](double x) { return std::isnan(x) ? x : std::clamp(x, -1.0, 2.0); }>, OpClass::kExact,
     1},
    {"clampAbove", Function::kClamp, [](const Tensor& x) { return clamp(x, std::nullopt, 1); },
     mapped<[](double x) { return 1 < x ? 1 : x; }>, OpClass::kExact, 1},
    {"clampBelow", Function::kClamp, [](const Tensor& x) { return clamp(x, 0); }, mapped<ref::relu>,
     OpClass::kExact, 1},
    {"hardswish", Function::kHardswish, hardswish,
     mapped<[](double x) { return x * std::fmin(std::fmax(x + 3, 0), 6) / 6; }>,
     OpClass::kPointwise, 1.5},
    {"leakyRelu", Function::kLeakyRelu, [](const Tensor& x) { return leaky_relu(x, 0.125); },
     mapped<[](double x) { return 0 < x ? x : 0.125 * x; }>, OpClass::kArithmetic, 1},
    {"softplus", Function::kSoftplus, [](const Tensor& x) { return softplus(x); },
     mapped<[](double x) { return 20 < x ? x : std::log1p(std::exp(x)); }>, OpClass::kPointwise, 1},
    {"softplusBeta", Function::kSoftplus, [](const Tensor& x) { return softplus(x, 2, 5); },
     mapped<[](double x) { return 5 < 2 * x ? x : std::log1p(std::exp(2 * x)) / 2; }>,
     OpClass::kPointwise, 1},
};

// A function of two tensors, or of a tensor and a scalar.
struct BinaryCase {  // NOLINT(clang-analyzer-optin.performance.Padding)
  const char* label;
  Function function;
  Tensor (*run)(const Tensor&, const Tensor&);
  Tensor (*run_scalar)(const Tensor&, double);
  RefTensor (*reference)(const RefTensor&, const RefTensor&);
  OpClass op_class = OpClass::kArithmetic;
};

inline void PrintTo(const BinaryCase& op, std::ostream* out) { *out << op.label; }

inline const BinaryCase kBinaryCases[] = {
    {"add", Function::kAdd, [](const Tensor& x, const Tensor& y) { return add(x, y); },
     [](const Tensor& x, double y) { return add(x, y); },
     [](const RefTensor& x, const RefTensor& y) { return ref::add(x, y); }},
    {"addAlpha", Function::kAdd, [](const Tensor& x, const Tensor& y) { return add(x, y, -2); },
     [](const Tensor& x, double y) { return add(x, y, -2); },
     [](const RefTensor& x, const RefTensor& y) { return ref::add(x, y, -2); }},
    {"sub", Function::kSub, [](const Tensor& x, const Tensor& y) { return sub(x, y); },
     [](const Tensor& x, double y) { return sub(x, y); },
     [](const RefTensor& x, const RefTensor& y) { return ref::sub(x, y); }},
    {"subAlpha", Function::kSub, [](const Tensor& x, const Tensor& y) { return sub(x, y, 3); },
     [](const Tensor& x, double y) { return sub(x, y, 3); },
     [](const RefTensor& x, const RefTensor& y) { return ref::sub(x, y, 3); }},
    {"mul", Function::kMul, mul, mul, ref::mul},
    {"div", Function::kDiv, div, div, ref::div},
    {"pow", Function::kPow, pow, pow,
     [](const RefTensor& x, const RefTensor& y) {
       return ref::map(x, y, [](double a, double b) { return std::pow(a, b); });
     },
     OpClass::kPointwise},
};

// Whether the eager kernels of `function` support `dtype`.
inline bool takes(Function function, DType dtype) {
  return is_floating(dtype) || pointwise::info(function).types == pointwise::Types::kNumbers;
}

// Each operator with each dtype that it supports.
inline std::vector<std::tuple<BinaryCase, DType>> binary_cases_by_dtype() {
  std::vector<std::tuple<BinaryCase, DType>> all;
  for (const BinaryCase& op : kBinaryCases) {
    for (const DType dtype : kNumbers) {
      if (takes(op.function, dtype)) all.emplace_back(op, dtype);
    }
  }
  return all;
}

inline std::vector<std::tuple<UnaryCase, DType>> unary_cases_by_dtype() {
  std::vector<std::tuple<UnaryCase, DType>> all;
  for (const UnaryCase& op : kUnaryCases) {
    for (const DType dtype : kNumbers) {
      if (takes(op.function, dtype)) all.emplace_back(op, dtype);
    }
  }
  return all;
}

// Names the instances of suites over the unary operators: "exp".
inline std::string unary_label(const ::testing::TestParamInfo<UnaryCase>& param) {
  return param.param.label;
}

// Names the instances of suites over (case, dtype): "exp_bf16".
template <typename Suite>
std::string case_name(const ::testing::TestParamInfo<typename Suite::ParamType>& param) {
  return std::get<0>(param.param).label + ("_" + std::string(name(std::get<1>(param.param))));
}

}  // namespace epi
