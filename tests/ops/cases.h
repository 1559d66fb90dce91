// SPDX-License-Identifier: Apache-2.0
// One sample call of every operator with its expected result. table_test.cpp compares the operator
// table with this list, so every operator has a test and a reference.
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

// Whether the operator has no kernel for GPUs.
inline bool is_cpu_only(Op op) { return op == Op::kInt8Linear || op == Op::kInt8Mm; }

// All samples that run on the test device.
const std::vector<OpCase>& op_cases();

}  // namespace epi
