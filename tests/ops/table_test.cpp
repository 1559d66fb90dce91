// SPDX-License-Identifier: Apache-2.0
// Checks every operator of the operator table: it has a sample with a reference (cases.h), matches
// the reference in every layout, and has the same shape, strides and dtype
// on `meta`, where nothing is computed.
#include <gtest/gtest.h>

#include <algorithm>

#include <set>
#include <string>

#include "epilogue/ops/dispatch.h"
#include "tests/ops/cases.h"
#include "tests/ops/compare.h"
#include "tests/ops/layouts.h"
#include "tests/ops/pointwise_cases.h"
#include "tests/ops/recorder.h"
#include "tests/ops/test_device.h"

namespace epi {
namespace {

std::vector<Tensor> inputs_of(const OpCase& sample, DType dtype, LayoutKind kind) {
  std::vector<Tensor> inputs;
  inputs.reserve(sample.shapes.size());
  for (const Dims& shape : sample.shapes) {
    inputs.push_back(random_tensor(shape, dtype, kind, inputs.size() + 1));
  }
  return inputs;
}

void for_each_op(const std::function<void(const OpInfo&)>& visit) {
  for (int i = 0; i < kOpCount; ++i) visit(op_info(static_cast<Op>(i)));
}

// Calls `check` for each sample in each layout. Failures name the operator and the layout.
void for_each_sample(const std::function<void(const OpCase&, LayoutKind)>& check) {
  for (const OpCase& sample : op_cases()) {
    for (const LayoutKind kind : kAllLayouts) {
      SCOPED_TRACE(std::string(op_info(sample.op).name) + " " + name(kind));
      check(sample, kind);
    }
  }
}

TEST(OperatorTable, NamesHaveNamespaceAndAreUnique) {
  std::set<std::string_view> seen;
  for_each_op([&](const OpInfo& info) {
    // ATen has no such operators.
    const bool is_ours =
        info.op == Op::kCausalSoftmax || info.op == Op::kInt8Linear || info.op == Op::kInt8Mm;
    EXPECT_TRUE(info.name.starts_with(is_ours ? "epilogue::" : "aten::")) << info.name;
    EXPECT_TRUE(seen.insert(info.name).second) << info.name << " is listed twice";
  });
  EXPECT_EQ(seen.size(), static_cast<size_t>(kOpCount));
}

TEST(OperatorTable, EveryOperatorHasSampleAndReference) {
  std::set<Op> sampled;
  for (const OpCase& sample : op_cases()) sampled.insert(sample.op);
  for_each_op([&](const OpInfo& info) {
    if (test_device() != kCpu && is_cpu_only(info.op)) return;
    EXPECT_TRUE(sampled.contains(info.op)) << info.name << " has no row in tests/ops/cases.cpp";
  });
}

TEST(OperatorTable, EveryPointwiseFunctionHasCase) {
  std::set<Function> cases;
  for (const UnaryCase& op : kUnaryCases) cases.insert(op.function);
  for (const BinaryCase& op : kBinaryCases) cases.insert(op.function);
  for (size_t i = 0; i < pointwise::kFunctionCount; ++i) {
    EXPECT_TRUE(cases.contains(static_cast<Function>(i)))
        << pointwise::kFunctions[i].name << " has no row in tests/ops/pointwise_cases.h";
  }
}

TEST(OperatorTable, EverySampleCallsItsOperator) {
  for (const OpCase& sample : op_cases()) {
    // Transposed, because `contiguous` and `reshape` do nothing for row-major inputs.
    const auto inputs = inputs_of(sample, DType::kF32, LayoutKind::kTransposed);
    Recorder recorder;
    sample.run(inputs);
    // On a GPU, some samples first move their indices there.
    const auto& called = recorder.ops();
    EXPECT_NE(std::find(called.begin(), called.end(), op_info(sample.op).name), called.end())
        << op_info(sample.op).name;
  }
}

TEST(OperatorTable, EveryOperatorMatchesReferenceInEveryLayout) {
  for (const DType dtype : kFloats) {
    for_each_sample([dtype](const OpCase& sample, LayoutKind kind) {
      const auto inputs = inputs_of(sample, dtype, kind);
      EXPECT_TRUE(matches(sample.run(inputs), sample.reference(ref::read(inputs)), sample.op_class))
          << name(dtype);
    });
  }
}

TEST(OperatorTable, MetaResultsHaveShapeStridesAndDTypeOfCpu) {
  for_each_sample([](const OpCase& sample, LayoutKind kind) {
    const auto inputs = inputs_of(sample, DType::kF32, kind);
    std::vector<Tensor> without_bytes = inputs;
    for (Tensor& x : without_bytes) x = on_meta(x);
    const Tensor want = sample.run(inputs);
    const Tensor got = sample.run(without_bytes);
    EXPECT_EQ(got.device(), kMeta);
    EXPECT_EQ(got.shape(), want.shape());
    EXPECT_EQ(got.strides(), want.strides());
    EXPECT_EQ(got.offset(), want.offset());
    EXPECT_EQ(got.dtype(), want.dtype());
  });
}

TEST(OperatorTable, OnlyViewsShareStorageWithInput) {
  for_each_sample([](const OpCase& sample, LayoutKind kind) {
    const OpKind op_kind = op_info(sample.op).kind;
    if (op_kind == OpKind::kComposite) return;  // reshape and contiguous may do either
    const auto inputs = inputs_of(sample, DType::kF32, kind);
    const bool shared = sample.run(inputs).storage() == inputs[0].storage();
    EXPECT_EQ(shared, op_kind == OpKind::kView);
  });
}

TEST(OperatorTable, OperatorsDoNotModifyInputs) {
  for_each_sample([](const OpCase& sample, LayoutKind kind) {
    const auto inputs = inputs_of(sample, DType::kF32, kind);
    const std::vector<RefTensor> before = ref::read(inputs);
    sample.run(inputs);
    for (size_t i = 0; i < inputs.size(); ++i) EXPECT_TRUE(same(inputs[i], before[i])) << i;
  });
}

}  // namespace
}  // namespace epi
