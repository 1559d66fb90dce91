// SPDX-License-Identifier: Apache-2.0
// Compiled GEMMs with epilogues against f64: every dtype, odd sizes, layouts of x, and numbers of
// rows from one to more than several tiles.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "epilogue/base/thread_pool.h"
#include "epilogue/compiler/compile.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi {
namespace {

double largest(const Tensor& x) {
  double found = 0;
  const Tensor wide = to(contiguous(x), DType::kF64);
  for (int64_t i = 0; i < wide.numel(); ++i)
    found = std::fmax(found, std::fabs(wide.data<double>()[i]));
  return found;
}

double difference(const Tensor& a, const Tensor& b) {
  return largest(sub(to(contiguous(a), DType::kF64), to(contiguous(b), DType::kF64)));
}

// Sums of k products of numbers near one, each rounded once in f32, have an error of about sqrt(k)
// roundings. The factor 8 allows a few standard deviations. One rounding to the dtype follows.
double tolerance(DType dtype, int64_t k, double scale) {
  const double sums = 8 * std::sqrt(static_cast<double>(k)) * 0x1p-24;
  const double last = dtype == DType::kF32 ? 0 : dtype == DType::kBF16 ? 0x1p-8 : 0x1p-11;
  return (sums + last) * std::fmax(scale, 1);
}

Tensor f64(const Tensor& x) { return to(contiguous(x), DType::kF64); }

constexpr DType kDTypes[] = {DType::kF32, DType::kBF16, DType::kF16};

TEST(CompiledGemm, OddSizesAndAllDTypesMatchFloat64) {
  register_cpu_backend();
  for (const DType dtype : kDTypes) {
    for (const int64_t n : {1, 7, 16, 33, 80}) {
      for (const int64_t k : {1, 5, 32, 64, 100}) {
        nn::Linear layer(k, n, true, dtype);
        nn::init_normal(layer, 1);
        const Compiled compiled = compile(layer);
        for (const int64_t m : {1, 2, 6, 14, 15, 31, 33, 47}) {
          const Tensor x = randn({m, k}, static_cast<uint64_t>(m), {dtype, kCpu});
          const Tensor expected = linear(f64(x), f64(layer.weight), f64(layer.bias));
          EXPECT_LE(difference(compiled(x), expected), tolerance(dtype, k, largest(expected)))
              << name(dtype) << " " << m << "x" << n << "x" << k;
        }
        EXPECT_EQ(compiled.recompiles(), 0);
      }
    }
  }
}

// A single row is packed on its own path, and neither its elements nor those of a few rows need to
// be adjacent.
TEST(CompiledGemm, StridedRowsMatchFloat64) {
  register_cpu_backend();
  for (const DType dtype : kDTypes) {
    for (const int64_t k : {1, 33, 100}) {
      nn::Linear layer(k, 40, true, dtype);
      nn::init_normal(layer, 1);
      const Compiled compiled = compile(layer);
      for (const int64_t m : {1, 3, 17}) {
        const Tensor every_second = slice(randn({m, 2 * k}, 2, {dtype, kCpu}), 1, 0, 2 * k, 2);
        const Tensor transposed = t(randn({k, m}, 3, {dtype, kCpu}));
        const Tensor repeated = expand(randn({m, 1}, 4, {dtype, kCpu}), {m, k});
        for (const Tensor& x : {every_second, transposed, repeated}) {
          const Tensor expected = linear(f64(x), f64(layer.weight), f64(layer.bias));
          EXPECT_LE(difference(compiled(x), expected), tolerance(dtype, k, largest(expected)))
              << name(dtype) << " " << m << "x" << k << " with strides " << x.strides()[0] << ", "
              << x.strides()[1];
        }
      }
    }
  }
}

// Panels of weights that exceed the L1 cache, or with AMX a part of the L2 cache, are multiplied in
// several passes over k.
TEST(CompiledGemm, LongSumsMatchFloat64) {
  register_cpu_backend();
  for (const DType dtype : kDTypes) {
    // Odd numbers of steps per pass as well, with tiles of four rows and an L1 cache of 32 or 48
    // KiB.
    for (const int64_t k : {1025, 1280, 2048, 3001, 4098}) {
      nn::Linear gate(k, 77, true, dtype);
      nn::Linear up(k, 77, true, dtype);
      nn::init_normal(gate, 1);
      nn::init_normal(up, 2);
      const Compiled linear_only = compile(gate);
      const Compiled glu =
          compile([&](const Tensor& x) { return mul(silu(gate.forward(x)), up.forward(x)); });
      for (const int64_t m : {1, 5, 8, 23, 34, 130}) {
        const Tensor x = randn({m, k}, static_cast<uint64_t>(m), {dtype, kCpu});
        const Tensor sums = linear(f64(x), f64(gate.weight), f64(gate.bias));
        EXPECT_LE(difference(linear_only(x), sums), tolerance(dtype, k, largest(sums)))
            << name(dtype) << " " << m << "x" << k;
        const Tensor gated = mul(silu(sums), linear(f64(x), f64(up.weight), f64(up.bias)));
        EXPECT_LE(difference(glu(x), gated), 4 * tolerance(dtype, k, largest(gated)))
            << name(dtype) << " gated " << m << "x" << k;
      }
    }
  }
}

// With AMX, x and the weights exceed the L2 cache: the output is computed in several blocks, each
// in several passes.
TEST(CompiledGemm, LargeOperandsMatchFloat64) {
  register_cpu_backend();
  constexpr int64_t kDepth = 2500;
  const int before = num_threads();
  nn::Linear layer(kDepth, 270, true, DType::kBF16);
  nn::init_normal(layer, 1);
  const Compiled compiled = compile(layer);
  const Tensor x = randn({1100, kDepth}, 2, {DType::kBF16, kCpu});
  const Tensor expected = linear(f64(x), f64(layer.weight), f64(layer.bias));
  for (const int threads : {1, 3}) {
    set_num_threads(threads);
    EXPECT_LE(difference(compiled(x), expected), tolerance(DType::kBF16, kDepth, largest(expected)))
        << threads << " threads";
  }
  set_num_threads(before);
}

// Several callers share the threads, and each gets its own result.
TEST(CompiledGemm, CallersInSeveralThreadsGetTheirOwnResults) {
  register_cpu_backend();
  for (const DType dtype : kDTypes) {
    nn::GluMlp mlp(70, 90, nn::GluActivation::kSilu, true, dtype);
    nn::init_normal(mlp, 3);
    const Compiled compiled = compile(mlp);
    std::vector<Tensor> inputs, alone, together(4);
    for (uint64_t i = 0; i < 4; ++i) {
      inputs.push_back(randn({100 + 30 * static_cast<int64_t>(i), 70}, i, {dtype, kCpu}));
      alone.push_back(compiled(inputs.back()));
    }
    std::vector<std::thread> callers;
    for (size_t i = 0; i < 4; ++i) {
      callers.emplace_back([&, i] {
        for (int call = 0; call < 20; ++call) together[i] = compiled(inputs[i]);
      });
    }
    for (auto& caller : callers) caller.join();
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(difference(together[i], alone[i]), 0) << name(dtype);
  }
}

// Zeros that pad rows, columns and k must not meet infinite numbers of other rows or columns.
TEST(CompiledGemm, InfinitiesStayInTheirRow) {
  register_cpu_backend();
  for (const DType dtype : kDTypes) {
    nn::Linear layer(37, 21, false, dtype);
    nn::init_normal(layer, 1);
    const Compiled compiled = compile(layer);
    for (const int64_t m : {1, 3, 7, 13}) {
      const Tensor x = randn({m, 37}, 2, {dtype, kCpu});
      const Tensor expected = contiguous(compiled(x));
      copy_(narrow(narrow(x, 0, m - 1, 1), 1, 36, 1), full({1, 1}, INFINITY, {dtype, kCpu}));
      const Tensor y = contiguous(compiled(x));
      EXPECT_EQ(difference(narrow(y, 0, 0, m - 1), narrow(expected, 0, 0, m - 1)), 0)
          << name(dtype);
      const Tensor last = to(contiguous(narrow(y, 0, m - 1, 1)), DType::kF32);
      for (int64_t n = 0; n < 21; ++n) EXPECT_TRUE(std::isinf(last.data<float>()[n])) << n;
    }
  }
}

TEST(CompiledGemm, OneFunctionHandlesAnyNumberOfRows) {
  register_cpu_backend();
  for (const DType dtype : kDTypes) {
    nn::GluMlp mlp(48, 80, nn::GluActivation::kSilu, true, dtype);
    nn::init_normal(mlp, 3);
    nn::GluMlp wide = mlp;
    for (const auto& parameter : wide.parameters()) *parameter.tensor = f64(*parameter.tensor);
    const Compiled compiled = compile(mlp);
    const Tensor all = randn({300, 48}, 9, {dtype, kCpu});
    const Tensor expected = wide.forward(f64(all));
    // act(gate) * up is rounded to the dtype between the two kernels.
    const double bound = 4 * tolerance(dtype, 80, largest(expected));
    for (int64_t m = 1; m <= 300; ++m) {
      const Tensor y = compiled(narrow(all, 0, 0, m));
      ASSERT_LE(difference(y, narrow(expected, 0, 0, m)), bound) << name(dtype) << " rows " << m;
    }
    EXPECT_EQ(compiled.recompiles(), 0);
    EXPECT_EQ(compiled.variants()[0].kernels.size(), 2U);
  }
}

TEST(CompiledGemm, EpiloguesReadBiasResidualAndRowScale) {
  register_cpu_backend();
  for (const DType dtype : kDTypes) {
    const TensorOptions options{dtype, kCpu};
    const Tensor w = randn({40, 24}, 1, options);
    const Tensor bias = randn({24}, 2, options);
    const auto function = [&](std::span<const Tensor> in) {
      const auto weight = in[0].dtype() == DType::kF64 ? f64(w) : w;
      const auto added = in[0].dtype() == DType::kF64 ? f64(bias) : bias;
      const Tensor gemm = matmul(in[0], weight);
      return add(mul(gelu(add(gemm, added)), in[2]), in[1], 0.5);
    };
    const Tensor x = randn({3, 7, 40}, 3, options);
    const Tensor residual = randn({3, 7, 24}, 4, options);
    const Tensor scale = randn({3, 7, 1}, 5, options);
    const Compiled compiled = compile(compiler::TensorFunction(function));
    const std::vector<Tensor> inputs = {x, residual, scale};
    const std::vector<Tensor> wide = {f64(x), f64(residual), f64(scale)};
    const Tensor expected = function(wide);
    EXPECT_LE(difference(compiled(inputs), expected), tolerance(dtype, 40, 4 * largest(expected)));
    EXPECT_EQ(compiled.variants()[0].kernels,
              std::vector<std::string>{"epi_tem_fused__unsafe_view_add_gelu_mm_mul_0"});
  }
}

TEST(CompiledGemm, HandlesTransposedInputsAlphaAndBeta) {
  register_cpu_backend();
  for (const DType dtype : kDTypes) {
    const Tensor w = randn({33, 20}, 1, {dtype, kCpu});
    const Tensor self = randn({9, 20}, 2, {dtype, kCpu});
    const auto function = [&](std::span<const Tensor> in) {
      return addmm(in[1], t(in[0]), in[0].dtype() == DType::kF64 ? f64(w) : w, -0.5, 2);
    };
    const std::vector<Tensor> inputs = {randn({33, 9}, 3, {dtype, kCpu}), self};
    const std::vector<Tensor> wide = {f64(inputs[0]), f64(self)};
    const Compiled compiled(function, {}, {.dynamic = false});
    const Tensor expected = function(wide);
    EXPECT_LE(difference(compiled(inputs), expected), tolerance(dtype, 33, 2 * largest(expected)));
    EXPECT_EQ(compiled.variants()[0].kernels, std::vector<std::string>{"epi_tem_fused_addmm_0"});
  }
}

TEST(CompiledGemm, NaNAffectsOnlyItsRow) {
  register_cpu_backend();
  for (const DType dtype : kDTypes) {
    nn::Linear layer(40, 24, false, dtype);
    nn::init_normal(layer, 1);
    const Tensor x = randn({35, 40}, 2, {dtype, kCpu});
    const Tensor bad = full({1, 40}, std::nan(""), {dtype, kCpu});
    copy_(narrow(x, 0, 20, 1), bad);
    const Tensor y = to(compile(layer)(x), DType::kF64);
    for (int64_t row = 0; row < 35; ++row) {
      for (int64_t column = 0; column < 24; ++column) {
        EXPECT_EQ(std::isnan(y.data<double>()[row * 24 + column]), row == 20) << row;
      }
    }
  }
}

}  // namespace
}  // namespace epi
