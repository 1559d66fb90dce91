// SPDX-License-Identifier: Apache-2.0
// Compiled GEMMs with int8 weights, against integer references: odd sizes, one scale per row or per
// group, quantized and float inputs, numbers of rows from one to more than several tiles.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "epilogue/compiler/compile.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/compiler/compile_helpers.h"
#include "tests/ops/compare.h"
#include "tests/ops/int8_reference.h"
#include "tests/ops/layouts.h"

namespace epi {
namespace {

constexpr DType kInputs[] = {DType::kF32, DType::kBF16, DType::kF16};

class CompiledInt8 : public ::testing::Test {
 protected:
  void SetUp() override { register_cpu_backend(); }
};

Compiled compile_linear(const RandomInt8& weight, bool int8_input) {
  return compile([weight, int8_input](const Tensor& x) {
    return int8_linear(x, weight.values, weight.scale, {}, int8_input);
  });
}

TEST_F(CompiledInt8, EqualsTheIntegerReferenceExactly) {
  for (const int64_t k : {1, 32, 770}) {
    for (const int64_t n : {7, 130}) {
      for (const bool in_groups : {false, true}) {
        const RandomInt8 weight = random_int8(n, k, in_groups, 3, true);
        for (const bool int8_input : {false, true}) {
          const Compiled compiled = compile_linear(weight, int8_input);
          for (const int64_t m : {1, 2, 3, 5, 8, 11, 12, 15, 16, 28, 33}) {
            const Tensor x = exact_int8_rows(m, k);
            EXPECT_TRUE(same(compiled(x), ref::int8_mm(x, weight, int8_input)))
                << m << " x " << n << " x " << k << (in_groups ? " in groups" : "")
                << (int8_input ? "" : ", float input");
          }
          EXPECT_EQ(compiled.recompiles(), 0);
        }
      }
    }
  }
}

TEST_F(CompiledInt8, MatchesReferenceInLayoutsAndDTypes) {
  for (const DType dtype : kInputs) {
    for (const LayoutKind kind :
         {LayoutKind::kContiguous, LayoutKind::kTransposed, LayoutKind::kBroadcastInner}) {
      for (const bool in_groups : {false, true}) {
        const RandomInt8 weight = random_int8(40, 100, in_groups, 11);
        for (const bool int8_input : {false, true}) {
          const Tensor x = random_tensor({13, 100}, dtype, kind, 5);
          EXPECT_TRUE(matches(compile_linear(weight, int8_input)(x),
                              ref::int8_mm(x, weight, int8_input), OpClass::kGemm))
              << name(dtype) << " " << name(kind);
        }
      }
    }
  }
}

// Panels of weights that exceed the L1 cache are multiplied in several passes over k.
TEST_F(CompiledInt8, LongSumsMatchReference) {
  for (const int64_t k : {2048, 3001, 8200}) {
    for (const bool in_groups : {false, true}) {
      const RandomInt8 weight = random_int8(29, k, in_groups, 11);
      for (const bool int8_input : {false, true}) {
        const Compiled compiled = compile_linear(weight, int8_input);
        for (const int64_t m : {1, 9, 34, 61, 90}) {
          const Tensor x =
              random_tensor({m, k}, DType::kF32, LayoutKind::kContiguous, static_cast<uint64_t>(m));
          EXPECT_TRUE(matches(compiled(x), ref::int8_mm(x, weight, int8_input), OpClass::kGemm))
              << m << " x " << k << (in_groups ? " in groups" : "");
        }
      }
    }
  }
}

// The reference of an activation and a gate has the scale of both sums.
TEST_F(CompiledInt8, FusesActivationGateAndBias) {
  for (const DType dtype : kInputs) {
    for (const bool in_groups : {false, true}) {
      for (const bool int8_input : {false, true}) {
        const RandomInt8 gate = random_int8(21, 70, in_groups, 1);
        const RandomInt8 up = random_int8(21, 70, in_groups, 2);
        const Tensor bias = random_tensor({21}, dtype, LayoutKind::kContiguous, 3);
        const Compiled compiled = compile([=](const Tensor& x) {
          return mul(silu(int8_linear(x, gate.values, gate.scale, bias, int8_input)),
                     int8_linear(x, up.values, up.scale, {}, int8_input));
        });
        for (const int64_t m : {1, 4, 11, 14, 33}) {
          const Tensor x = random_tensor({m, 70}, dtype, LayoutKind::kContiguous, 7);
          const RefTensor left = ref::int8_mm(x, gate, int8_input);
          const RefTensor right = ref::int8_mm(x, up, int8_input);
          const RefTensor gated = ref::map(ref::add(left, ref::read(bias)), ref::silu);
          RefTensor want = ref::mul(gated, right);
          // An error of one sum is multiplied by the other. The slope of silu is at most 1.1.
          want.scales.resize(want.values.size());
          for (size_t i = 0; i < want.values.size(); ++i) {
            want.scales[i] = 1.1 * left.scales[i] * std::abs(right.values[i]) +
                             std::abs(gated.values[i]) * right.scales[i];
          }
          want.terms = left.terms;
          EXPECT_TRUE(matches(compiled(x), want, OpClass::kReduction))
              << name(dtype) << " " << m << (in_groups ? " in groups" : "");
        }
        EXPECT_EQ(compiled.variants()[0].kernels,
                  std::vector<std::string>{"epi_tem_fused_int8_mm_mul_silu_0"});
      }
    }
  }
}

TEST_F(CompiledInt8, NanStaysInItsRow) {
  const RandomInt8 weight = random_int8(21, 70, true, 1);
  const Compiled compiled = compile_linear(weight, true);
  const Tensor x = random_tensor({5, 70}, DType::kF32, LayoutKind::kContiguous, 7);
  x.data<float>()[2 * 70 + 69] = std::numeric_limits<float>::infinity();
  const Tensor y = compiled(x);
  for (int64_t i = 0; i < y.numel(); ++i) {
    EXPECT_EQ(std::isnan(y.data<float>()[i]), i / 21 == 2) << i;
  }
}

TEST_F(CompiledInt8, FollowsChangedParameters) {
  for (const bool in_groups : {false, true}) {
    const RandomInt8 weight = random_int8(8, 64, in_groups, 1);
    const Tensor bias = zeros({8});
    const Compiled compiled =
        compile([=](const Tensor& x) { return int8_linear(x, weight.values, weight.scale, bias); });
    const Tensor x = random_tensor({3, 64}, DType::kF32, LayoutKind::kContiguous, 7);
    const auto expect_follows = [&] {
      const RefTensor want = ref::add(ref::int8_mm(x, weight, true), ref::read(bias));
      RefTensor sums = ref::int8_mm(x, weight, true);
      sums.values = want.values;
      EXPECT_TRUE(matches(compiled(x), sums, OpClass::kGemm)) << in_groups;
    };
    expect_follows();
    copy_(weight.scale, full(weight.scale.shape(), 0.5));
    expect_follows();
    copy_(weight.values, random_int8(8, 64, in_groups, 2).values);
    expect_follows();
    copy_(bias, full({8}, 3));
    expect_follows();
  }
}

// The same weights, read in two ways: neither the kernels nor the packed weights are shared.
TEST_F(CompiledInt8, KeepsFloatAndInt8InputsApart) {
  const RandomInt8 weight = random_int8(8, 64, true, 1, true);
  const Compiled compiled = compile([=](const Tensor& x) {
    return mul(int8_linear(x, weight.values, weight.scale, {}, true),
               int8_linear(x, weight.values, weight.scale, {}, false));
  });
  const Tensor x = exact_int8_rows(5, 64);
  const RefTensor exact = ref::int8_mm(x, weight, true);
  EXPECT_TRUE(matches(compiled(x), ref::mul(exact, exact), OpClass::kArithmetic));
  EXPECT_EQ(compiled.variants()[0].kernels.size(), 2U);
}

TEST_F(CompiledInt8, AcceptsScalesThatAreInputs) {
  const RandomInt8 weight = random_int8(8, 64, true, 1);
  const Compiled compiled =
      compile([=](Inputs in) { return relu(int8_linear(in[0], weight.values, in[1])); });
  const Tensor x = random_tensor({3, 64}, DType::kF32, LayoutKind::kContiguous, 7);
  const std::vector<Tensor> inputs = {x, weight.scale};
  RefTensor want = ref::int8_mm(x, weight, true);
  for (double& value : want.values) value = ref::relu(value);
  EXPECT_TRUE(matches(compiled(inputs), want, OpClass::kGemm));
}

// The scale and the bias count as operands: at the limit, the GEMM keeps its own kernel.
TEST_F(CompiledInt8, KeepsTheLimitOfOperands) {
  const RandomInt8 weight = random_int8(8, 64, false, 1, true);
  const Tensor bias = full({8}, 1);
  for (const int count : {12, 13, 14, 15}) {
    std::vector<Tensor> added;
    for (int i = 0; i < count; ++i) added.push_back(full({3, 8}, i));
    const Compiled compiled = compile([=](const Tensor& x) {
      Tensor y = int8_linear(x, weight.values, weight.scale, bias);
      for (const Tensor& other : added) y = add(y, other);
      return y;
    });
    const Tensor x = exact_int8_rows(3, 64);
    RefTensor want = ref::int8_mm(x, weight, true);
    for (double& value : want.values) value += 1 + count * (count - 1) / 2;
    EXPECT_TRUE(same(compiled(x), want)) << count;
  }
}

}  // namespace
}  // namespace epi
