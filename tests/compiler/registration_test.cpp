// SPDX-License-Identifier: Apache-2.0
// Kernels that replace those of built-in operators, and custom operators: in eager code, in
// compiled code, and in traces.
#include <gtest/gtest.h>

#include <cmath>

#include "epilogue/ops/custom_op.h"
#include "epilogue/ops/dispatch.h"
#include "tests/compiler/compile_helpers.h"
#include "tests/ops/recorder.h"

namespace epi {
namespace {

// A kernel for the lifetime of the object.
class Replaced {
 public:
  Replaced(Op op, Kernel kernel) : op_(op) { register_kernel(DeviceType::kCpu, op, kernel); }
  Replaced(const Replaced&) = delete;
  Replaced& operator=(const Replaced&) = delete;
  ~Replaced() { register_kernel(DeviceType::kCpu, op_, nullptr); }

 private:
  Op op_;
};

// Reads the first value of the result.
float first(const Tensor& x) { return contiguous(x).data<float>()[0]; }

void write_7(Args /*args*/, const Tensor& out) {
  for (int64_t i = 0; i < out.numel(); ++i) out.data<float>()[i] = 7;
}

TEST(Registration, CompiledCodeUsesReplacedKernels) {
  register_cpu_backend();
  const Tensor w = randn({8, 8}, 1);
  const Tensor bias = randn({8}, 2);
  const Tensor x = randn({4, 8}, 3);
  const struct {
    Op op;
    std::function<Tensor(const Tensor&)> function;
  } cases[] = {
      {Op::kSilu, [](const Tensor& y) { return silu(y); }},
      {Op::kSilu, [](const Tensor& y) { return mul(silu(add(y, 1.0)), 2.0); }},
      {Op::kMm, [=](const Tensor& y) { return relu(mm(y, w)); }},
      {Op::kMm, [=](const Tensor& y) { return add(mm(y, w), bias); }},
      {Op::kAdd, [=](const Tensor& y) { return add(mm(y, w), bias); }},
      {Op::kAddmm, [=](const Tensor& y) { return relu(addmm(bias, y, w)); }},
      {Op::kMul, [](const Tensor& y) { return mul(y, 1.0); }},
      {Op::kMul, [](const Tensor& y) { return mul(y, full({}, 2)); }},
      {Op::kMul, [](const Tensor& y) { return add(y, mul(full({}, 2), full({}, 3))); }},
      {Op::kSoftmax, [](const Tensor& y) { return softmax(y, 1); }},
      {Op::kCopy_, [](const Tensor& y) { return neg(clone(t(y))); }},
  };
  for (const auto& [op, function] : cases) {
    SCOPED_TRACE(op_info(op).name);
    const Compiled before = compile(function);
    const Tensor usual = before(x);
    Tensor eager, compiled, compiled_again;
    {
      const Replaced replaced(op, write_7);
      eager = function(x);
      compiled = compile(function)(x);
      compiled_again = before(x);
    }
    expect_near(compiled, eager);
    expect_near(compiled_again, eager);
    EXPECT_NE(first(eager), first(usual));
    expect_near(before(x), usual);
    EXPECT_EQ(before.recompiles(), 2);
    EXPECT_EQ(before.variants().back().reason, "a kernel was registered");
  }
}

// Passes do not form calls of an operator whose kernel was replaced.
TEST(Registration, ReplacedKernelsGetOnlyTheirOwnCalls) {
  register_cpu_backend();
  const auto function = [](Inputs in) { return add(mm(in[0], in[1]), in[2]); };
  const std::vector<Tensor> inputs = {randn({4, 8}, 1), randn({8, 8}, 2), randn({8}, 3)};
  const Tensor usual = function(inputs);
  const Replaced replaced(Op::kAddmm, write_7);
  for (const Fuse fuse : {Fuse::kNone, Fuse::kEpilogue}) {
    expect_near(compile(function, {.fuse = fuse})(inputs), usual);
  }
}

TEST(Registration, RefusesOperatorsWithoutKernels) {
  register_cpu_backend();
  EXPECT_NE(message_of([] { register_kernel(DeviceType::kCpu, Op::kView, write_7); }).find("view"),
            std::string::npos);
  EXPECT_THROW(register_kernel(DeviceType::kCpu, Op::kLinear, write_7), Error);
}

// out[i][j] = x[i][j] * scale[i], with a kernel.
Op scale_rows_op() {
  static const Op op = register_op({
      .name = "mine::scale_rows",
      .result =
          [](Args args) {
            const Tensor& x = args.tensor(0);
            if (args.tensor(1).shape() != Dims{x.size(0)}) {
              fail("scale_rows", "the scale is {}, the matrix {}",
                   to_string(args.tensor(1).shape()), to_string(x.shape()));
            }
            return empty(x.shape(), {x.dtype(), x.device()});
          },
      .kernels = {{DeviceType::kCpu,
                   [](Args args, const Tensor& out) {
                     const Tensor x = contiguous(args.tensor(0));
                     const Tensor scale = contiguous(args.tensor(1));
                     for (int64_t i = 0; i < out.numel(); ++i) {
                       const int64_t row = i / out.size(1);
                       out.data<float>()[i] = x.data<float>()[i] * scale.data<float>()[row];
                     }
                   }}},
  });
  return op;
}
Tensor scale_rows(const Tensor& x, const Tensor& scale) {
  return dispatch(scale_rows_op(), {x, scale});
}

TEST(CustomOp, RunsEagerlyCompiledAndInTraces) {
  register_cpu_backend();
  const auto function = [](Inputs in) { return relu(scale_rows(neg(in[0]), in[1])); };
  const Compiled compiled = compile(function, {.sizes = {{1, 0, Size::kFree}}});
  for (const int64_t rows : {3, 5, 2}) {
    const Tensor x = randn({rows, 4}, 1);
    const Tensor scale = randn({rows}, 2);
    const std::vector<Tensor> inputs = {x, scale};
    expect_near(function(inputs), relu(mul(neg(x), unsqueeze(scale, 1))));
    expect_near(compiled(inputs), function(inputs));
  }
  EXPECT_EQ(compiled.recompiles(), 0);
  EXPECT_NE(compiled.variants()[0].stages[0].find("scale_rows(%0, x1)"), std::string::npos);

  const Recorder recorder;
  scale_rows(zeros({2, 3}), zeros({2}));
  EXPECT_EQ(recorder.tree(), "mine::scale_rows\n");
  compiled(std::vector<Tensor>{zeros({2, 4}), zeros({2})});
  EXPECT_NE(recorder.tree().find("  mine::scale_rows\n"), std::string::npos);
}

TEST(CustomOp, ChecksItsArguments) {
  register_cpu_backend();
  const Tensor x = zeros({2, 3});
  const Tensor scale = zeros({3});
  EXPECT_NE(message_of([&] { scale_rows(x, scale); }).find("the scale is [3]"), std::string::npos);
  const auto wrong_kind = [&] { dispatch(scale_rows_op(), {x, 2}); };
  EXPECT_EQ(message_of(wrong_kind),
            "[mine::scale_rows] an argument is an integer, but the operator reads a tensor");
  EXPECT_EQ(message_of([&] { dispatch(scale_rows_op(), {x}); }),
            "[mine::scale_rows] the call has 1 argument, but the operator reads argument 2");
  EXPECT_EQ(message_of([&] { dispatch(Op::kMm, {x}); }),
            "[mm] the call has 1 argument, but the operator reads argument 2");
  // Compiled code calls the kernel.
  const Op late = register_op({.name = "mine::late",
                               .result = [](Args) { return empty({2}); },
                               .kernels = {{DeviceType::kCpu, [](Args args, const Tensor&) {
                                              static_cast<void>(args.tensor(1));
                                            }}}});
  const std::string late_message =
      "[mine::late] an argument is an integer, but the operator reads a tensor";
  EXPECT_EQ(message_of([&] { dispatch(late, {x, 2}); }), late_message);
  const Compiled compiled = compile([=](const Tensor& y) { return dispatch(late, {y, 2}); });
  EXPECT_EQ(message_of([&] { compiled(x); }), late_message);
  const Op nowhere = register_op({.name = "mine::nowhere",
                                  .result = [](Args) { return empty({2}); },
                                  .kernels = {{DeviceType::kCuda, [](Args, const Tensor&) {}}}});
  EXPECT_NE(message_of([&] { dispatch(nowhere, {zeros({2})}); }).find("no kernel for device cpu"),
            std::string::npos);
}

TEST(CustomOp, TakesSeveralLists) {
  register_cpu_backend();
  static const Op op = register_op({
      .name = "mine::dot",
      .result = [](Args) { return empty({}); },
      .kernels = {{DeviceType::kCpu,
                   [](Args args, const Tensor& out) {
                     float sum = 0;
                     for (size_t i = 0; i < args[0].tensors().size(); ++i) {
                       sum += args[0].tensors()[i].data<float>()[0] *
                              args[1].tensors()[i].data<float>()[0];
                     }
                     out.data<float>()[0] = sum + static_cast<float>(args[1].tensors().size());
                   }}},
  });
  const auto function = [](Inputs in) {
    const std::vector<Tensor> left = {in[0], in[1]};
    const std::vector<Tensor> right = {in[1], in[2]};
    return dispatch(op, {std::span<const Tensor>(left), std::span<const Tensor>(right)});
  };
  const std::vector<Tensor> inputs = {full({1}, 2), full({1}, 3), full({1}, 5)};
  EXPECT_EQ(first(function(inputs)), 23);
  EXPECT_EQ(first(compile(function)(inputs)), 23);
}

// A definition is fused with its neighbors, and runs on devices without a kernel.
TEST(CustomOp, DefinitionsAreFused) {
  register_cpu_backend();
  static const Op op = register_op({
      .name = "mine::mish",
      .definition = [](Args args) { return mul(args.tensor(0), tanh(softplus(args.tensor(0)))); },
  });
  const auto function = [](const Tensor& x) { return add(dispatch(op, {mul(x, 2.0)}), 1.0); };
  const Compiled compiled = compile(function);
  const Tensor x = randn({5, 7}, 1);
  expect_near(compiled(x), function(x));
  EXPECT_EQ(compiled.variants()[0].kernels.size(), 1U);
  const double value = x.data<float>()[0] * 2.0;
  EXPECT_NEAR(first(compiled(x)), value * std::tanh(std::log1p(std::exp(value))) + 1, 1e-5);
}

TEST(CustomOp, RefusesWrongRegistrations) {
  register_cpu_backend();
  const auto kernel = [](Args, const Tensor&) {};
  const auto result = [](Args args) { return args.tensor(0); };
  EXPECT_THROW(register_op({.name = "plain", .result = result}), Error);
  EXPECT_THROW(register_op({.name = "mine::a b", .definition = result}), Error);
  EXPECT_THROW(register_op({.name = "mine::a::b", .definition = result}), Error);
  EXPECT_THROW(
      register_op(
          {.name = "mine::empty", .result = result, .kernels = {{DeviceType::kCpu, nullptr}}}),
      Error);
  const Op same = register_op(
      {.name = "mine::same", .result = result, .kernels = {{DeviceType::kCpu, kernel}}});
  EXPECT_THROW(dispatch(same, {zeros({2})}), Error);
  EXPECT_THROW(register_op({.name = "aten::mine", .definition = result}), Error);
  EXPECT_THROW(register_op({.name = "mine::nothing"}), Error);
  EXPECT_THROW(register_op({.name = "mine::no_result", .kernels = {{DeviceType::kCpu, kernel}}}),
               Error);
  register_op({.name = "mine::twice", .definition = result});
  EXPECT_THROW(register_op({.name = "mine::twice", .definition = result}), Error);
}

}  // namespace
}  // namespace epi
