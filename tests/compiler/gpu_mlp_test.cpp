// SPDX-License-Identifier: Apache-2.0
// Small MLPs that run as one kernel on a Hopper GPU, against float64: sizes, epilogues, and memory
// that is reused.
#include <fmt/format.h>
#include <gtest/gtest.h>

#ifdef EPI_HAS_CUDA

#include <algorithm>
#include <cmath>
#include <functional>

#include "epilogue/compiler/compile.h"
#include "epilogue/compiler/gpu/gpu_mlp.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/compiler/with_hopper.h"

namespace epi {
namespace {

using compiler::GemmCode;
using compiler::GpuMlp;
using compiler::HopperMlp;
using pointwise::Function;

Tensor wide(const Tensor& x) { return to(contiguous(to(x, kCpu)), DType::kF64); }

// The first GEMM computes silu(gate) * up, or gelu of a single product.
GemmCode first_code(int gemms, DType dtype, int64_t n, int64_t k) {
  GemmCode code;
  code.gemms = gemms;
  code.dtype = dtype;
  code.n = n;
  code.k = k;
  code.outputs = {dtype};
  code.program.inputs = gemms;
  if (gemms == 2) {
    code.program.steps = {{Function::kSilu, {{0, 0}}}, {Function::kMul, {{2, 0}, {1, 0}}}};
    code.program.outputs = {3};
  } else {
    code.program.steps = {{Function::kGelu, {{0, 0}}}};
    code.program.outputs = {1};
  }
  return code;
}

GemmCode second_code(DType dtype, int64_t out, int64_t n) {
  GemmCode code;
  code.dtype = dtype;
  code.n = out;
  code.k = n;
  code.outputs = {dtype};
  code.program.inputs = 1;
  code.program.outputs = {0};
  return code;
}

class GpuMlpForm : public WithHopper {
 protected:
  // Weights of a layer with k inputs.
  static Tensor weight(int64_t n, int64_t k, DType dtype, uint64_t seed) {
    const double scale = 1 / std::sqrt(static_cast<double>(k));
    return to(mul(randn({n, k}, seed, {dtype, kCpu}), scale), kCuda);
  }

  // Every hidden activation h and the result are rounded once. The hidden sums and the activation
  // err by far less. Allows five standard deviations of the sum of the roundings of h.
  static void expect_near(const Tensor& got, const Tensor& h, const Tensor& down,
                          const Tensor& want, const std::string& what) {
    const double unit = got.dtype() == DType::kBF16 ? 0x1p-8 : 0x1p-11;
    const Tensor squares = mm(mul(h, h), mul(down, down));
    const Tensor results = wide(got);
    ASSERT_EQ(results.shape(), want.shape());
    for (int64_t i = 0; i < want.numel(); ++i) {
      const double value = want.data<double>()[i];
      const double noise = 5 * std::sqrt(squares.data<double>()[i]);
      ASSERT_NEAR(results.data<double>()[i], value, unit * (1.01 * std::abs(value) + noise))
          << what << " " << i;
    }
  }
};

TEST_F(GpuMlpForm, EveryFormMatchesFloat64) {
  struct Sizes {
    int64_t k, n, out;
  };
  int tested = 0;
  for (const Sizes& s : std::vector<Sizes>{{64, 256, 64},
                                           {8, 8, 8},
                                           {72, 200, 40},
                                           {128, 512, 128},
                                           {24, 1000, 16},
                                           {200, 136, 256},
                                           {256, 40, 248}}) {
    for (const DType dtype : {DType::kBF16, DType::kF16}) {
      for (const int gemms : {1, 2}) {
        const Tensor w0 = weight(s.n, s.k, dtype, 1);
        const Tensor w1 = weight(s.n, s.k, dtype, 2);
        const Tensor down = weight(s.out, s.n, dtype, 3);
        const GpuMlp mlp("gemm", first_code(gemms, dtype, s.n, s.k), second_code(dtype, s.out, s.n),
                         0, compiler::UseCache::kYes);
        for (const int row_groups : {1, 2, 4, 8}) {
          const HopperMlp form{row_groups};
          if (form.shared_bytes(mlp.first(), mlp.second()) > compiler::kMaxSharedBytes) continue;
          for (const int64_t m : {1, 17, 100, 300}) {
            const Tensor x = randn({m, s.k}, 4, {dtype, kCuda});
            const Tensor y = full({m, s.out}, NAN, {dtype, kCuda});
            const auto start = [&](const Tensor& out) {
              mlp.start(form, m,
                        {x.raw_data(),
                         s.k,
                         w0.raw_data(),
                         w1.raw_data(),
                         down.raw_data(),
                         out.raw_data(),
                         {},
                         {}},
                        true, cuda::current_stream().get());
            };
            start(y);
            const Tensor sum = mm(wide(x), t(wide(w0)));
            const Tensor h = gemms == 1 ? gelu(sum) : mul(silu(sum), mm(wide(x), t(wide(w1))));
            const Tensor down_t = t(wide(down));
            ASSERT_NO_FATAL_FAILURE(
                expect_near(y, h, down_t, mm(h, down_t),
                            fmt::format("{}x{}x{}x{}, {} GEMMs, {} rows", m, s.k, s.n, s.out, gemms,
                                        16 * row_groups)));
            const Tensor again = full({m, s.out}, NAN, {dtype, kCuda});
            start(again);  // the same bits
            const Tensor first_bits = wide(y);
            const Tensor second_bits = wide(again);
            for (int64_t i = 0; i < y.numel(); ++i) {
              ASSERT_EQ(first_bits.data<double>()[i], second_bits.data<double>()[i]) << i;
            }
            ++tested;
          }
        }
      }
    }
  }
  EXPECT_GE(tested, 300);
}

// Biases on all layers and a residual, rows that are apart, and the numbers of rows at which the
// form changes.
TEST_F(GpuMlpForm, CompiledMlpsWithOperandsMatchFloat64) {
  constexpr DType kDtype = DType::kBF16;
  const TensorOptions options{kDtype, kCuda};
  const Tensor gate = weight(200, 72, kDtype, 1);
  const Tensor up = weight(200, 72, kDtype, 2);
  const Tensor down = weight(72, 200, kDtype, 3);
  const Tensor gate_bias = randn({200}, 4, options);
  const Tensor up_bias = randn({200}, 5, options);
  const Tensor down_bias = randn({72}, 6, options);
  const auto block = [=](std::span<const Tensor> in) {
    const Tensor h = mul(silu(linear(in[0], gate, gate_bias)), linear(in[0], up, up_bias));
    return add(linear(h, down, down_bias), in[0]);
  };
  const std::vector<compiler::NamedTensor> parameters = {
      {"gate", gate},           {"up", up},           {"down", down},
      {"gate_bias", gate_bias}, {"up_bias", up_bias}, {"down_bias", down_bias}};
  for (const bool graph : {false, true}) {
    const Compiled compiled(block, parameters, {.graph = graph});
    for (const int64_t m : {1, 8, 9, 65, 128, 129, 512, 513, 1024, 1025, 3}) {
      const Tensor x = slice(randn({m, 96}, 7, options), 1, 8, 80);
      const Tensor h = mul(silu(add(mm(wide(x), t(wide(gate))), wide(gate_bias))),
                           add(mm(wide(x), t(wide(up))), wide(up_bias)));
      const Tensor down_t = t(wide(down));
      const Tensor want = add(add(mm(h, down_t), wide(down_bias)), wide(x));
      for (int call = 0; call < 3; ++call) {
        const std::vector<Tensor> in = {x};
        ASSERT_NO_FATAL_FAILURE(
            expect_near(compiled(in), h, down_t, want, fmt::format("{} rows", m)));
      }
    }
    EXPECT_EQ(compiled.recompiles(), 0);
    EXPECT_NE(compiled.variants()[0].plan.find("_mlp"), std::string::npos);
  }
}

// Blocks one after another: each may reuse the memory of the one before it.
TEST_F(GpuMlpForm, ChainsOfMlpsMatchEager) {
  std::vector<nn::GluMlp> mlps;
  std::vector<compiler::NamedTensor> parameters;
  for (uint64_t i = 0; i < 4; ++i) {
    mlps.emplace_back(64, 256, nn::GluActivation::kGeluTanh, false, DType::kBF16);
    nn::init_normal(mlps.back(), i);
    mlps.back().to(kCuda);
  }
  const auto chain = [&](std::span<const Tensor> in) {
    Tensor x = in[0];
    for (const nn::GluMlp& mlp : mlps) x = mul(mlp.forward(x), 4.0);
    return x;
  };
  for (size_t i = 0; i < mlps.size(); ++i) {
    parameters.push_back({fmt::format("gate{}", i), mlps[i].gate_proj.weight});
    parameters.push_back({fmt::format("up{}", i), mlps[i].up_proj.weight});
    parameters.push_back({fmt::format("down{}", i), mlps[i].down_proj.weight});
  }
  const Compiled compiled(chain, parameters, {});
  for (const int64_t m : {5, 128, 1000}) {
    const std::vector<Tensor> in = {randn({m, 64}, 9, {DType::kBF16, kCuda})};
    const Tensor got = wide(compiled(in));
    const Tensor want = wide(chain(in));
    double largest = 0;
    for (int64_t i = 0; i < want.numel(); ++i) {
      largest = std::max(largest, std::abs(want.data<double>()[i]));
    }
    ASSERT_GT(largest, 0);
    for (int64_t i = 0; i < want.numel(); ++i) {  // four blocks, each rounded several times
      ASSERT_NEAR(got.data<double>()[i], want.data<double>()[i], 0x1p-5 * largest) << m << " " << i;
    }
  }
}

// The hidden activations are read again, directly and through a view, so both GEMMs run alone.
TEST_F(GpuMlpForm, HiddenActivationsThatOthersReadAreWritten) {
  constexpr DType kDtype = DType::kBF16;
  const Tensor w1 = weight(64, 32, kDtype, 1);
  const Tensor w2 = weight(16, 64, kDtype, 2);
  const auto direct = [=](const Tensor& x) {
    const Tensor h = silu(linear(x, w1));
    return add(linear(h, w2), narrow(h, -1, 0, 16));
  };
  const auto by_view = [=](const Tensor& x) {
    const Tensor h = silu(linear(x, w1));
    return add(linear(h, w2), narrow(select(h, 0, 1), 1, 16, 16));
  };
  for (const auto& function : std::vector<std::function<Tensor(const Tensor&)>>{direct, by_view}) {
    const Compiled compiled = compile(function);
    for (const int64_t rows : {3, 40, 100}) {
      const Tensor x = randn({2, rows, 32}, 3, {kDtype, kCuda});
      const Tensor got = wide(compiled(x));
      const Tensor want = wide(function(x));
      ASSERT_EQ(got.shape(), want.shape());
      for (int64_t i = 0; i < want.numel(); ++i) {  // eager mode also rounds the sums
        ASSERT_NEAR(got.data<double>()[i], want.data<double>()[i],
                    0x1p-5 * std::max(1.0, std::abs(want.data<double>()[i])))
            << rows << " " << i;
      }
    }
  }
}

}  // namespace
}  // namespace epi

#endif
