// SPDX-License-Identifier: Apache-2.0
// One sample of every operator: how it is called, and what it should give. table_test.cpp holds the
// operator table against this list, so that no operator goes without a test and a reference.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "epilogue/ops/op.h"
#include "tests/ops/reference.h"
#include "tests/ops/tolerance.h"

namespace epi {

struct OpCase {
  Op op;
  std::vector<Dims> shapes;  // of the inputs
  OpClass op_class;
  std::function<Tensor(std::span<const Tensor> x)> run;
  std::function<RefTensor(std::span<const RefTensor> x)> reference;
};

const std::vector<OpCase>& op_cases();

}  // namespace epi
