// SPDX-License-Identifier: Apache-2.0
// Binding tensors to the matrices of a manifest, and choosing a launch for them.
#include "epilogue/hub/bound_call.h"

#include <gtest/gtest.h>

#include "epilogue/base/error.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::hub {
namespace {

Launch launch_of(const char* kernel, std::array<int64_t, 2> tile, double cost = 1) {
  Launch launch;
  launch.kernel = kernel;
  launch.tile = tile;
  launch.threads = 256;
  launch.wave_cost = cost;
  return launch;
}

class BoundCallTest : public ::testing::Test {
 protected:
  void SetUp() override { register_cpu_backend(); }

  static Export glu() {
    Export one;
    one.name = "glu";
    one.dtypes = {DType::kF32};
    one.operands = {{"gate", {"m", "n"}}, {"up", {"m", "n"}}, {"out", {"m", "n"}, true}};
    return one;
  }
  static Export gemm() {
    Export one;
    one.name = "gemm";
    one.dtypes = {DType::kF32, DType::kBF16};
    one.operands = {{"x", {"m", "k"}}, {"w", {"n", "k"}, false, true}, {"y", {"m", "n"}, true}};
    one.sizes = {{"n", 8, 1 << 20, 8}};
    one.flops = 2;
    one.flops_sizes = {"m", "n", "k"};
    return one;
  }
  template <typename... Tensors>
  static std::string bind_error(const Export& one, const Tensors&... tensors) {
    const std::vector<Tensor> inputs{tensors...};
    try {
      bind_call(one, inputs);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(BoundCallTest, LeadingDimensionsBecomeRowsAndAreRestored) {
  const Export one = gemm();
  const std::vector inputs{zeros({2, 3, 5}), zeros({8, 5})};
  const BoundCall call = bind_call(one, inputs);
  EXPECT_EQ(call.size("m"), 6);
  EXPECT_EQ(call.size("k"), 5);
  EXPECT_EQ(call.output().tensor.shape(), (Dims{2, 3, 8}));
  EXPECT_EQ(call.bytes(), 4 * (30 + 40 + 48));
  EXPECT_EQ(call.flops(), 2 * 6 * 8 * 5);
  EXPECT_EQ(call.operands[0].data, inputs[0].raw_data());
}

// Halves of one tensor, such as those of `chunk`, are read in place.
TEST_F(BoundCallTest, DoesNotCopyRowsWithGaps) {
  const Export one = glu();
  const Tensor both = zeros({2, 3, 16});
  const std::vector inputs{slice(both, 2, 0, 8), slice(both, 2, 8, 16)};
  const BoundCall call = bind_call(one, inputs);
  EXPECT_EQ(call.operands[1].data, both.raw_data() + 32);
  EXPECT_EQ(call.operands[1].row_stride, 16);
  EXPECT_EQ(call.operands[1].rows, 6);
}

TEST_F(BoundCallTest, CopiesRowsThatAreNotDense) {
  const Export one = glu();
  const Tensor x = t(zeros({6, 4}));
  const std::vector inputs{x, x};
  const BoundCall call = bind_call(one, inputs);
  EXPECT_NE(call.operands[0].data, x.raw_data());
  EXPECT_EQ(call.operands[0].row_stride, 6);
  const Tensor broadcast = expand(zeros({1, 6}), {4, 6});
  const std::vector rows{broadcast, broadcast};
  EXPECT_EQ(bind_call(one, rows).operands[0].row_stride, 6);
}

TEST_F(BoundCallTest, BindsEmptyTensors) {
  const Export one = glu();
  for (const Dims& shape : {Dims{2, 0, 8}, Dims{0, 3, 8}, Dims{2, 3, 0}, Dims{0}}) {
    const std::vector inputs{zeros(shape), zeros(shape)};
    const BoundCall call = bind_call(one, inputs);
    EXPECT_EQ(call.size("m") * call.size("n"), 0);
    EXPECT_EQ(call.output().tensor.shape(), shape);
  }
}

// A kernel may rely on the alignment that its manifest requires.
TEST_F(BoundCallTest, RejectsRowsThatCannotBeAligned) {
  Export one = glu();
  one.align_bytes = 64;
  EXPECT_EQ(bind_error(one, zeros({2, 3}), zeros({2, 3})),
            "[glu] the row stride of gate is 12 bytes, must be a multiple of 64");
  const Tensor odd = slice(zeros({33}), 0, 1, 33);
  const std::vector inputs{odd, odd};
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bind_call(one, inputs).operands[0].data) % 64, 0U);
  const std::vector whole{zeros({2, 16}), zeros({2, 16})};
  EXPECT_EQ(bind_call(one, whole).operands[1].data, whole[1].raw_data());
}

TEST_F(BoundCallTest, ErrorsNameKernelRuleAndNumbers) {
  EXPECT_EQ(bind_error(glu(), zeros({2, 4})), "[glu] expected 2 inputs, got 1");
  EXPECT_EQ(bind_error(glu(), zeros({2, 4}), zeros({2, 5})),
            "[glu] up is 2x5, but n is 4 in the preceding operands");
  EXPECT_EQ(bind_error(glu(), zeros({2, 4}, {DType::kF64}), zeros({2, 4}, {DType::kF64})),
            "[glu] no kernel for dtype f64");
  EXPECT_EQ(bind_error(gemm(), zeros({2, 4}), zeros({8, 4}, {DType::kBF16})),
            "[gemm] dtypes differ: f32 and bf16");
  EXPECT_EQ(bind_error(gemm(), zeros({2, 4}), zeros({12, 4})),
            "[gemm] n is 12, must be a multiple of 8");
  EXPECT_EQ(bind_error(gemm(), zeros({2, 4}), zeros({0, 4})),
            "[gemm] n is 0, must be from 8 to 1048576");
}

TEST_F(BoundCallTest, ChoosesCheapestSuitableLaunch) {
  Export one = gemm();
  one.launches = {launch_of("wide", {128, 256}, 256), launch_of("narrow", {128, 64}, 70)};
  one.launches[0].persistent = one.launches[1].persistent = true;
  one.launches.push_back(launch_of("few", {64, 32}, 1));
  one.launches[2].when = {{"m", 0, 4, 1}};
  const auto planned = [&](int64_t m, int64_t n) {
    const std::vector inputs{zeros({m, 4}), zeros({n, 4})};
    return plan_launch(bind_call(one, inputs), 4);
  };
  // 8 wide tiles on 4 multiprocessors take two waves of 256, 512 in total. 32 narrow tiles take
  // eight waves of 70, 560 in total.
  EXPECT_EQ(planned(1024, 256).launch->kernel, "wide");
  EXPECT_EQ(planned(1024, 256).blocks, 4);
  // One wide tile costs 256, two narrow tiles in one wave cost 70.
  EXPECT_EQ(planned(128, 128).launch->kernel, "narrow");
  EXPECT_EQ(planned(128, 128).blocks, 2);
  EXPECT_EQ(planned(4, 128).launch->kernel, "few");
  EXPECT_EQ(planned(4, 128).blocks, 4);
  EXPECT_EQ(planned(5, 128).launch->kernel, "narrow");
}

TEST_F(BoundCallTest, FlatLaunchNeedsContiguousOperands) {
  Export one = glu();
  one.launches = {launch_of("flat", {1, 1024}), launch_of("rows", {1, 64}, 2)};
  one.launches[0].flat = true;
  one.launches[0].when = {{"n", 0, 1 << 30, 4}};
  const std::vector dense{zeros({3, 1024}), zeros({3, 1024})};
  const BoundCall call = bind_call(one, dense);
  const PlannedLaunch planned = plan_launch(call, 4);
  EXPECT_EQ(planned.launch->kernel, "flat");
  EXPECT_EQ(planned.blocks, 3);
  EXPECT_EQ(launch_size(call, *planned.launch, "n"), 3072);
  EXPECT_EQ(launch_size(call, *planned.launch, "m"), 1);
  const Tensor both = zeros({3, 32});
  const std::vector halves{slice(both, 1, 0, 16), slice(both, 1, 16, 32)};
  EXPECT_EQ(plan_launch(bind_call(one, halves), 4).launch->kernel, "rows");
  const std::vector odd{zeros({3, 3}), zeros({3, 3})};  // nine elements
  EXPECT_EQ(plan_launch(bind_call(one, odd), 4).launch->kernel, "rows");
}

TEST_F(BoundCallTest, ReportsMissingLaunch) {
  Export one = glu();
  one.launches = {launch_of("aligned", {1, 64})};
  one.launches[0].when = {{"n", 0, 1 << 30, 8}};
  const std::vector inputs{zeros({2, 3}), zeros({2, 3})};
  const BoundCall call = bind_call(one, inputs);
  EXPECT_THROW(plan_launch(call, 4), Error);
}

}  // namespace
}  // namespace epi::hub
