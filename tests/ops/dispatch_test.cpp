// SPDX-License-Identifier: Apache-2.0
// Dispatch: the calls that a listener and a capture receive. Kernel
// names, bytes and FLOPs: kernels_test.cpp.
#include "epilogue/ops/dispatch.h"

#include <gtest/gtest.h>

#include <thread>

#include "epilogue/cpu/cpu_kernels.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/compare.h"
#include "tests/ops/recorder.h"

namespace epi {
namespace {

TEST(Listener, ReceivesLinearWithBiasAsInPyTorch) {
  const Tensor x = zeros({8, 16});
  const Tensor weight = zeros({4, 16});
  const Tensor bias = zeros({4});
  const Recorder recorder;
  linear(x, weight, bias);
  EXPECT_EQ(recorder.tree(), R"(aten::linear
  aten::t
    aten::transpose
      aten::as_strided
  aten::addmm
    * gemm_f32_tn_bias
)");
  EXPECT_TRUE(recorder.ends_match());
  EXPECT_EQ(recorder.depth(), 0);
}

TEST(Listener, ReceivesBatchedLinearAsViewsAndOneGemm) {
  const Tensor x = zeros({2, 8, 16});
  const Tensor weight = zeros({4, 16});
  const Recorder recorder;
  linear(x, weight);
  EXPECT_EQ(recorder.tree(), R"(aten::linear
  aten::t
    aten::transpose
      aten::as_strided
  aten::matmul
    aten::reshape
      aten::view
    aten::mm
      * gemm_f32_tn
    aten::_unsafe_view
)");
}

TEST(Listener, ReceivesCopyOfReshape) {
  const Tensor x = t(zeros({3, 4}));
  const Recorder recorder;
  reshape(x, {12});
  EXPECT_EQ(recorder.ops(), (std::vector<std::string_view>{"aten::reshape", "aten::clone",
                                                           "aten::copy_", "aten::_unsafe_view"}));
  EXPECT_EQ(recorder.kernels().size(), 1);
}

TEST(Listener, ReceivesNoKernelFromViews) {
  const Tensor x = zeros({3, 1, 4});
  const Recorder recorder;
  expand(x, {3, 2, 4});
  flatten(x);
  narrow(x, 0, 1, 2);
  permute(x, {2, 0, 1});
  reshape(x, {4, 3});
  select(x, 0, 1);
  slice(x, 0, 0, 3, 2);
  squeeze(x);
  t(squeeze(x));
  unsqueeze(x, 0);
  view(x, {12});
  EXPECT_GE(recorder.ops().size(), 12);
  EXPECT_TRUE(recorder.kernels().empty()) << recorder.tree();
}

TEST(Listener, ReceivesNoKernelFromEmptyOrMetaTensors) {
  const Recorder recorder;
  add(zeros({0, 3}), zeros({3}));
  mm(zeros({4, 5}, {DType::kF32, kMeta}), zeros({5, 6}, {DType::kF32, kMeta}));
  EXPECT_EQ(recorder.tree(), "aten::add\naten::mm\n");
}

TEST(Listener, NestsOperatorsInAnnotations) {
  const Tensor x = zeros({3});
  const Recorder recorder;
  {
    const RecordFunction outer("step");
    const RecordFunction inner("forward");
    neg(x);
  }
  neg(x);
  EXPECT_EQ(recorder.tree(), R"(step
  forward
    aten::neg
      * pointwise_neg_f32
aten::neg
  * pointwise_neg_f32
)");
}

TEST(Listener, ReceivesEndOfThrowingCall) {
  const Tensor x = t(zeros({3, 4}));
  const Recorder recorder;
  EXPECT_TRUE(
      fails("view", {"[12]"}, [&] { view(x, {12}); }));  // throws after the range has started
  EXPECT_EQ(recorder.tree(), "aten::view\n");
  EXPECT_EQ(recorder.depth(), 0);
  EXPECT_TRUE(recorder.ends_match());
  neg(zeros({2}));
  EXPECT_EQ(recorder.depth(), 0);
}

TEST(Dispatch, NamesOperatorWithoutKernel) {
  register_backend_kernel(DeviceType::kCpu, Op::kNeg, nullptr);
  const Tensor x = zeros({3});
  EXPECT_TRUE(fails("neg", {"cpu"}, [&] { neg(x); }));
  register_backend_kernel(DeviceType::kCpu, Op::kNeg, cpu::pointwise_kernel<Op::kNeg>);
  EXPECT_EQ(neg(x).shape(), (Dims{3}));
}

TEST(Dispatch, RunsFromSeveralThreadsAtOnce) {
  const Tensor x = randn({128, 64}, 1);
  const Tensor weight = randn({32, 64}, 2);
  const RefTensor want = ref::linear(ref::read(x), ref::read(weight));
  std::vector<std::string> failures(4);
  std::vector<std::thread> threads;
  threads.reserve(failures.size());
  for (std::string& failure : failures) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20 && failure.empty(); ++i) {
        const auto result = matches(linear(x, weight), want, OpClass::kGemm);
        if (!result) failure = result.message();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::string& failure : failures) EXPECT_EQ(failure, "");
}

// Records the calls and returns uninitialized tensors with the shape and dtype of their results.
class CallList : public Capture {
 public:
  CallList() : previous_(set_capture(this)) {}
  CallList(const CallList&) = delete;
  CallList& operator=(const CallList&) = delete;
  ~CallList() override { set_capture(previous_); }

  Tensor call(Op op, Args args) override {
    calls.push_back(op_info(op).name);
    composites += op_info(op).kind == OpKind::kComposite ? 1 : 0;
    set_capture(nullptr);
    Tensor result = op_info(op).result(args);
    set_capture(this);
    return result;
  }

  std::vector<std::string_view> calls;
  int composites = 0;

 private:
  Capture* previous_;
};

TEST(Capture, ReceivesPrimitivesOfLinear) {
  const Tensor x = zeros({2, 8, 16}, {DType::kF32, kMeta});
  const Tensor weight = zeros({4, 16}, {DType::kF32, kMeta});
  const CallList list;
  const Tensor y = linear(x, weight);
  using Names = std::vector<std::string_view>;
  EXPECT_EQ(list.calls, (Names{"aten::t", "aten::view", "aten::mm", "aten::_unsafe_view"}));
  EXPECT_EQ(y.shape(), (Dims{2, 8, 4}));
}

TEST(Capture, ReceivesNoComposite) {
  const Tensor x = t(zeros({3, 4}));
  const CallList list;
  reshape(x, {12});
  flatten(x);
  contiguous(x);
  clone(x);
  to(x, DType::kF64);
  matmul(x, zeros({3, 5}));
  linear(x, zeros({5, 3}), zeros({5}));
  EXPECT_EQ(list.composites, 0);
  EXPECT_GE(list.calls.size(), 7);
}

TEST(Capture, InterceptsCallsOfItsThreadOnly) {
  const CallList list;
  std::thread([] { neg(zeros({2})); }).join();
  EXPECT_TRUE(list.calls.empty());
  neg(zeros({2}));
  EXPECT_EQ(list.calls.size(), 1);
}

}  // namespace
}  // namespace epi
