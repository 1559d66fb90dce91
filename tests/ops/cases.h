// SPDX-License-Identifier: Apache-2.0
// One sample of every operator: how it is called, and what it should give. table_test.cpp holds the
// operator table against this list, so that no operator goes without a test and a reference.
#pragma once

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
  Tensor (*run)(std::span<const Tensor> x);
  RefTensor (*reference)(std::span<const RefTensor> x);
};

const std::vector<OpCase>& op_cases();

}  // namespace epi
