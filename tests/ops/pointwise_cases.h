// SPDX-License-Identifier: Apache-2.0
// The pointwise operators as data: what to call, and what it should give.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <ostream>
#include <string>
#include <tuple>
#include <vector>

#include "epilogue/ops/functional.h"
#include "tests/ops/layouts.h"
#include "tests/ops/reference.h"
#include "tests/ops/tolerance.h"

namespace epi {

struct UnaryCase {
  const char* label;
  Tensor (*run)(const Tensor&);
  RefTensor (*reference)(const RefTensor&);
  OpClass op_class;
};

inline void PrintTo(const UnaryCase& op, std::ostream* out) { *out << op.label; }

inline const UnaryCase kUnaryCases[] = {
    {"neg", neg, [](const RefTensor& x) { return ref::map(x, [](double v) { return -v; }); },
     OpClass::kExact},
    {"relu", relu, [](const RefTensor& x) { return ref::map(x, ref::relu); }, OpClass::kExact},
    {"exp", exp, [](const RefTensor& x) { return ref::map(x, std::exp); }, OpClass::kPointwise},
    {"tanh", tanh, [](const RefTensor& x) { return ref::map(x, std::tanh); }, OpClass::kPointwise},
    {"sigmoid", sigmoid, [](const RefTensor& x) { return ref::map(x, ref::sigmoid); },
     OpClass::kPointwise},
    {"silu", silu, [](const RefTensor& x) { return ref::map(x, ref::silu); }, OpClass::kPointwise},
    {"gelu", [](const Tensor& x) { return gelu(x); },
     [](const RefTensor& x) { return ref::gelu(x, false); }, OpClass::kGelu},
    {"geluTanh", [](const Tensor& x) { return gelu(x, "tanh"); },
     [](const RefTensor& x) { return ref::gelu(x, true); }, OpClass::kGelu},
};

struct BinaryCase {
  const char* label;
  Tensor (*run)(const Tensor&, const Tensor&);
  Tensor (*run_scalar)(const Tensor&, double);
  RefTensor (*reference)(const RefTensor&, const RefTensor&);
  bool floats_only = false;
};

inline void PrintTo(const BinaryCase& op, std::ostream* out) { *out << op.label; }

inline const BinaryCase kBinaryCases[] = {
    {"add", [](const Tensor& x, const Tensor& y) { return add(x, y); },
     [](const Tensor& x, double y) { return add(x, y); },
     [](const RefTensor& x, const RefTensor& y) { return ref::add(x, y); }},
    {"addAlpha", [](const Tensor& x, const Tensor& y) { return add(x, y, -2); },
     [](const Tensor& x, double y) { return add(x, y, -2); },
     [](const RefTensor& x, const RefTensor& y) { return ref::add(x, y, -2); }},
    {"sub", [](const Tensor& x, const Tensor& y) { return sub(x, y); },
     [](const Tensor& x, double y) { return sub(x, y); },
     [](const RefTensor& x, const RefTensor& y) { return ref::sub(x, y); }},
    {"subAlpha", [](const Tensor& x, const Tensor& y) { return sub(x, y, 3); },
     [](const Tensor& x, double y) { return sub(x, y, 3); },
     [](const RefTensor& x, const RefTensor& y) { return ref::sub(x, y, 3); }},
    {"mul", mul, mul, ref::mul},
    {"div", div, div, ref::div, true},
};

// Each operator with each dtype that it takes.
inline std::vector<std::tuple<BinaryCase, DType>> binary_cases_by_dtype() {
  std::vector<std::tuple<BinaryCase, DType>> all;
  for (const BinaryCase& op : kBinaryCases) {
    for (const DType dtype : kNumbers) {
      if (is_floating(dtype) || !op.floats_only) all.emplace_back(op, dtype);
    }
  }
  return all;
}

// "exp", for suites over the unary operators.
inline std::string unary_label(const ::testing::TestParamInfo<UnaryCase>& param) {
  return param.param.label;
}

// "exp_bf16", for suites over (case, dtype).
template <typename Suite>
std::string case_name(const ::testing::TestParamInfo<typename Suite::ParamType>& param) {
  return std::get<0>(param.param).label + ("_" + std::string(name(std::get<1>(param.param))));
}

}  // namespace epi
