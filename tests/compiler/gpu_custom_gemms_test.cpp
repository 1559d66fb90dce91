// SPDX-License-Identifier: Apache-2.0
// Custom GEMMs on a Hopper GPU against float64: many rows and few rows,
// ragged sizes, epilogues and layouts.
#include <fmt/format.h>
#include <gtest/gtest.h>

#ifdef EPI_HAS_CUDA

#include <cmath>
#include <random>

#include "epilogue/compiler/compile.h"
#include "epilogue/compiler/gpu/gpu_gemm.h"
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/cuda/stream.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/compiler/with_hopper.h"

namespace epi {
namespace {

Tensor wide(const Tensor& x) { return to(contiguous(to(x, kCpu)), DType::kF64); }
Tensor magnitude(const Tensor& x) { return add(relu(x), relu(neg(x))); }

double unit(DType dtype) { return dtype == DType::kBF16 ? 0x1p-8 : 0x1p-11; }

struct Glu {
  Tensor gate;
  Tensor up;
  bool by_gelu = true;

  Tensor operator()(const Tensor& x) const {
    const Tensor g = linear(x, gate);
    return mul(by_gelu ? gelu(g, "tanh") : silu(g), linear(x, up));
  }
};

class GpuCustomGemms : public WithHopper {
 protected:
  // Fills the memory of the next tensor of this size with NaN.
  static void poison(int64_t elements, DType dtype) {
    full({elements}, NAN, {dtype, kCuda});
    cuda::synchronize();
  }

  static Compiled compiled_glu(const Glu& glu, bool graph = false) {
    return {[glu](std::span<const Tensor> in) { return glu(in[0]); },
            {{"gate", glu.gate}, {"up", glu.up}},
            {.graph = graph}};
  }

  // One rounding to the dtype. Errors of f32 sums of k terms grow like a random walk, with a factor
  // 8 for the tensor core, which truncates where f32 rounds. The activation has a slope of at
  // most 1.2 and a relative error of at most 2^-16, in bf16 also an absolute one.
  static void expect_glu(const Tensor& got, const Tensor& x, const Glu& glu) {
    const Tensor rows = wide(x);
    const Glu exact{wide(glu.gate), wide(glu.up), glu.by_gelu};
    const Tensor want = exact(rows);
    const Tensor gate = mm(rows, t(exact.gate));
    const Tensor up = magnitude(mm(rows, t(exact.up)));
    const Tensor active = magnitude(glu.by_gelu ? gelu(gate, "tanh") : silu(gate));
    const double sum_error = 8 * std::sqrt(static_cast<double>(x.size(1))) * 0x1p-24;
    const Tensor gate_terms = mm(magnitude(rows), t(magnitude(exact.gate)));
    const Tensor up_terms = mm(magnitude(rows), t(magnitude(exact.up)));
    const Tensor sums = add(mul(mul(gate_terms, up), 1.2), mul(active, up_terms));
    const double rounding = 1.01 * unit(got.dtype()) + 0x1p-16;
    const double absolute = got.dtype() == DType::kBF16 ? 0x1p-16 : 0;
    const Tensor bound =
        add(add(mul(magnitude(want), rounding), mul(sums, sum_error)), mul(up, absolute));
    const Tensor results = wide(got);
    ASSERT_EQ(results.shape(), want.shape());
    for (int64_t i = 0; i < want.numel(); ++i) {
      // f16 subnormals are 6e-8 apart.
      const double allowed = bound.data<double>()[i] + 1e-7;
      ASSERT_NEAR(results.data<double>()[i], want.data<double>()[i], allowed)
          << i << " of " << to_string(want.shape()) << ", k " << x.size(1);
    }
  }

  // Eager mode also rounds gate, up and the activation.
  static void expect_near_eager(const Tensor& got, const Tensor& want) {
    const Tensor x = wide(got);
    const Tensor y = wide(want);
    ASSERT_EQ(x.shape(), y.shape());
    for (int64_t i = 0; i < x.numel(); ++i) {
      ASSERT_NEAR(x.data<double>()[i], y.data<double>()[i],
                  0x1p-5 * std::max(1.0, std::abs(y.data<double>()[i])))
          << i;
    }
  }

  static Glu random_glu(int64_t n, int64_t k, DType dtype, bool by_gelu, uint64_t seed) {
    const double scale = 1 / std::sqrt(static_cast<double>(k));
    return {to(mul(randn({n, k}, seed, {dtype, kCpu}), scale), kCuda),
            to(mul(randn({n, k}, seed + 1, {dtype, kCpu}), scale), kCuda), by_gelu};
  }
};

TEST_F(GpuCustomGemms, RandomShapesMatchFloat64) {
  std::mt19937_64 random(7);
  const auto between = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  std::vector<Compiled> kept;  // functions of a process share their code
  for (int run = 0; run < 200; ++run) {
    const int64_t m = run % 3 == 0 ? between(1, 64) : between(65, 500);
    const int64_t n = 8 * between(1, 60);
    const int64_t k = 8 * between(1, 60);
    const DType dtype = run % 5 == 0 ? DType::kF16 : DType::kBF16;
    const Glu glu = random_glu(n, k, dtype, run % 2 == 0, static_cast<uint64_t>(run));
    const Tensor x = randn({m, k}, static_cast<uint64_t>(run) + 1000, {dtype, kCuda});
    const Compiled& compiled = kept.emplace_back(compiled_glu(glu));
    poison(m * n, dtype);
    const Tensor first = compiled(x);
    ASSERT_NO_FATAL_FAILURE(expect_glu(first, x, glu)) << run;
    const Tensor bits = wide(first);
    for (int again = 0; again < 3; ++again) {  // repeated calls give the same bits
      const Tensor other = wide(compiled(x));
      for (int64_t i = 0; i < bits.numel(); ++i) {
        ASSERT_EQ(other.data<double>()[i], bits.data<double>()[i]) << run << " " << i;
      }
    }
  }
}

// All tile sizes and streaming variants, for one GEMM and for two. Limited to few multiprocessors,
// so each block computes many tiles.
TEST_F(GpuCustomGemms, EveryKernelVariantMatchesFloat64) {
  constexpr int64_t kN = 520;
  // As many steps of k as the ring of a tall tile has stages (200), and several pieces of a row in
  // the decode form, of which the last one is shorter (3080, 1544).
  for (const auto& [gemms, kK] :
       std::vector<std::pair<int, int64_t>>{{1, 328}, {2, 328}, {2, 200}, {1, 3080}, {2, 1544}}) {
    const Glu glu = random_glu(kN, kK, DType::kBF16, true, 11);
    compiler::GemmCode code;
    code.gemms = gemms;
    code.dtype = DType::kBF16;
    code.n = kN;
    code.k = kK;
    code.outputs = {DType::kBF16};
    code.program.inputs = gemms;
    code.program.outputs = {0};
    if (gemms == 2) {
      code.program.steps = {{pointwise::Function::kGeluTanh, {{0, 0}}},
                            {pointwise::Function::kMul, {{2, 0}, {1, 0}}}};
      code.program.outputs = {3};
    }
    const std::vector<Tensor> weights =
        gemms == 2 ? std::vector{glu.gate, glu.up} : std::vector{glu.gate};
    const compiler::GpuGemm gemm("gemm", code, weights, 0, compiler::UseCache::kYes, 3);
    const auto expect = [&](int64_t m, const compiler::GpuGemmCall& call, const std::string& form) {
      const Tensor x = randn({m, kK}, 12, {DType::kBF16, kCuda});
      const Tensor out = full({m, kN}, NAN, {DType::kBF16, kCuda});
      call.start(x.raw_data(), out.raw_data(), {}, 0, cuda::current_stream().get());
      if (gemms == 2) {
        ASSERT_NO_FATAL_FAILURE(expect_glu(out, x, glu)) << form;
        return;
      }
      const Tensor want = mm(wide(x), t(wide(glu.gate)));
      const Tensor got = wide(out);
      for (int64_t i = 0; i < want.numel(); ++i) {
        const double value = want.data<double>()[i];
        ASSERT_NEAR(got.data<double>()[i], value, 1.01 * 0x1p-8 * std::abs(value) + 0x1p-14)
            << form << " " << i;
      }
    };
    for (const compiler::HopperTile& tile : compiler::hopper_tiles()) {
      ASSERT_LE(tile.min_depth(code), kK);
      expect(700, gemm.bind(700, kK, tile),
             fmt::format("{} GEMMs, {} rows by {}", gemms, tile.rows, tile.half));
    }
    for (const int64_t m : {1, 5, 8}) {
      expect(m, gemm.bind(m, kK, compiler::HopperDecode{}),
             fmt::format("{} GEMMs, decode, {} rows", gemms, m));
    }
    for (const compiler::HopperStream& stream : compiler::hopper_streams()) {
      for (const int64_t m : {int64_t{1}, int64_t{stream.tokens} - 3, int64_t{stream.tokens}}) {
        expect(m, gemm.bind(m, kK, stream),
               fmt::format("{} GEMMs, {} of {} tokens", gemms, m, stream.tokens));
      }
    }
    EXPECT_EQ(gemm.forms().size(), 5U + 1U + 4U);
  }
}

TEST_F(GpuCustomGemms, EverySelectedVariantMatchesFloat64) {
  // Sizes that select each variant, see CudaCode.ChoosesTileThatFillsGpu.
  for (const int64_t m : {1, 8, 9, 16, 17, 32, 33, 63, 64, 65, 128, 129, 512, 1024, 2049}) {
    const Glu glu = random_glu(1536, 264, DType::kBF16, true, 5);
    const Tensor x = randn({m, 264}, 6, {DType::kBF16, kCuda});
    ASSERT_NO_FATAL_FAILURE(expect_glu(compiled_glu(glu)(x), x, glu)) << m;
  }
}

// 128 rows by 512 columns of 8192 terms are 8 tiles. The library splits the sums over more blocks.
TEST_F(GpuCustomGemms, SizesThatLeaveGpuIdleUseLibrary) {
  const Glu glu = random_glu(512, 8192, DType::kBF16, true, 3);
  for (const bool graph : {false, true}) {
    const Tensor few = randn({128, 8192}, 4, {DType::kBF16, kCuda});
    const Compiled by_library = compiled_glu(glu, graph);
    by_library(few);
    EXPECT_EQ(by_library.variants()[0].kernels,
              (std::vector<std::string>{"aten::mm", "aten::mm", "epi_poi_fused_gelu_mul_0"}));
    const Compiled compiled = compiled_glu(glu, graph);
    for (const int64_t m : {4096, 128, 4, 128, 4096, 4}) {
      const Tensor x = randn({m, 8192}, 4, {DType::kBF16, kCuda});
      const Tensor got = compiled(x);
      const Tensor want = glu(x);
      const double apart = std::sqrt(
          to(to(sum(mul(sub(got, want), sub(got, want))), kCpu), DType::kF64).data<double>()[0] /
          to(to(sum(mul(want, want)), kCpu), DType::kF64).data<double>()[0]);
      EXPECT_LT(apart, 0x1p-7) << m;  // eager mode also rounds gate, up and the activation
    }
    EXPECT_EQ(compiled.recompiles(), 0);
    EXPECT_EQ(compiled.variants()[0].kernels,
              std::vector<std::string>{"epi_tem_fused_gelu_mm_mul_0"});
  }
}

TEST_F(GpuCustomGemms, OneFunctionHandlesAnyNumberOfRows) {
  nn::GluMlp mlp(256, 768, nn::GluActivation::kSilu, false, DType::kBF16);
  nn::init_normal(mlp, 1);
  mlp.to(kCuda);
  for (const bool graph : {false, true}) {
    const Compiled compiled = compile(mlp, {.graph = graph});
    for (const int64_t m : {1, 2, 7, 16, 33, 64, 65, 100, 512, 1000, 8192, 3, 0, 96}) {
      const Tensor x = randn({m, 256}, 2, {DType::kBF16, kCuda});
      const Glu glu{wide(mlp.gate_proj.weight), wide(mlp.up_proj.weight), false};
      const Tensor h = glu(wide(x));
      const Tensor down = t(wide(mlp.down_proj.weight));
      const Tensor want = mm(h, down);
      const Tensor squares = mm(mul(h, h), mul(down, down));
      for (int call = 0; call < 3; ++call) {
        const Tensor got = wide(compiled(x));
        ASSERT_EQ(got.shape(), want.shape());
        // Every element of h and the result are rounded. Allows five standard deviations.
        for (int64_t i = 0; i < got.numel(); ++i) {
          const double value = want.data<double>()[i];
          const double noise = 5 * std::sqrt(squares.data<double>()[i]);
          ASSERT_NEAR(got.data<double>()[i], value, 0x1p-8 * (1.01 * std::abs(value) + noise))
              << m << " " << i;
        }
      }
    }
    EXPECT_EQ(compiled.recompiles(), 0);
    EXPECT_EQ(compiled.variants()[0].kernels,
              (std::vector<std::string>{"epi_tem_fused_mm_mul_silu_0", "epi_tem_fused_mm_1"}));
  }
}

// A bias per column before the activation, a number per row and a matrix after it.
TEST_F(GpuCustomGemms, EpiloguesReadExtraOperands) {
  const TensorOptions options{DType::kBF16, kCuda};
  const Tensor w = to(mul(randn({136, 72}, 1, {DType::kBF16, kCpu}), 0.125), kCuda);
  const Tensor bias = randn({136}, 2, options);
  const auto function = [=](std::span<const Tensor> in) {
    const Tensor sum = linear(in[0], w, bias);
    return add(mul(gelu(sum, "tanh"), in[2]), in[1]);
  };
  const Compiled compiled(function, {{"w", w}, {"bias", bias}}, {});
  for (const int64_t m : {1, 5, 64, 65, 300}) {
    const std::vector<Tensor> in = {randn({m, 72}, 3, options), randn({m, 136}, 4, options),
                                    randn({m, 1}, 5, options)};
    const Tensor got = wide(compiled(in));
    const Tensor sum = add(mm(wide(in[0]), t(wide(w))), wide(bias));
    const Tensor want = add(mul(gelu(sum, "tanh"), wide(in[2])), wide(in[1]));
    for (int64_t i = 0; i < want.numel(); ++i) {
      const double value = want.data<double>()[i];
      ASSERT_NEAR(got.data<double>()[i], value, 1.01 * 0x1p-8 * std::abs(value) + 0x1p-15)
          << m << " " << i;
    }
  }
  const auto kernels = compiled.variants()[0].kernels;
  ASSERT_EQ(kernels.size(), 1);
  EXPECT_TRUE(kernels[0].starts_with("epi_tem_fused_")) << kernels[0];
}

// Equals a GEMM followed by a pointwise kernel if both add the terms of a sum in the same order.
// The library may split the sum of an element, which changes a few results by an f32 rounding.
TEST_F(GpuCustomGemms, RoundedGemmsMatchUnfusedBits) {
  for (const bool by_gelu : {true, false}) {
    const Glu glu = random_glu(256, 192, DType::kBF16, by_gelu, 8);
    const auto function = [glu](std::span<const Tensor> in) { return glu(in[0]); };
    const std::vector<compiler::NamedTensor> parameters = {{"gate", glu.gate}, {"up", glu.up}};
    const Compiled fused(function, parameters, {.round_gemms = true});
    const Compiled unfused(function, parameters, {.fuse = Fuse::kPointwise});
    for (const int64_t m : {1, 16, 64, 200, 1000}) {
      const std::vector<Tensor> x = {randn({m, 192}, 9, {DType::kBF16, kCuda})};
      const Tensor got = wide(fused(x));
      const Tensor want = wide(unfused(x));
      int64_t different = 0;
      for (int64_t i = 0; i < want.numel(); ++i) {
        different += got.data<double>()[i] != want.data<double>()[i];
      }
      EXPECT_LE(different, want.numel() / 1000) << m;
    }
  }
}

TEST_F(GpuCustomGemms, CopiesRowsThatTmaCannotRead) {
  const Glu glu = random_glu(64, 40, DType::kBF16, false, 3);
  for (const int64_t m : {3, 9, 100}) {
    const Compiled compiled = compiled_glu(glu);  // a variant for each layout below
    const Tensor flat = randn({1 + m * 40}, 4, {DType::kBF16, kCuda});
    const Tensor misaligned = view(slice(flat, 0, 1, 1 + m * 40), {m, 40});
    expect_glu(compiled(misaligned), misaligned, glu);
    const Tensor padded = slice(randn({m, 43}, 5, {DType::kBF16, kCuda}), 1, 0, 40);
    expect_glu(compiled(padded), padded, glu);
    const Tensor apart = slice(randn({m, 80}, 6, {DType::kBF16, kCuda}), 1, 8, 48);
    expect_glu(compiled(apart), apart, glu);  // read in place
    const Tensor same = expand(randn({1, 40}, 7, {DType::kBF16, kCuda}), {m, 40});
    expect_near_eager(compiled(same), glu(same));  // runs in the library, because rows overlap
  }
}

// NaN propagates, and large negative inputs give zero. -inf gives NaN, as in eager mode.
TEST_F(GpuCustomGemms, ActivationsHandleExtremeValues) {
  const double extremes[] = {NAN, INFINITY, -INFINITY, 1e30, -1e30, -1e6, -100,
                             -50, 88,       0,         -0.0, 3e38,  -3e38};
  const int64_t count = std::size(extremes);
  const Tensor ones = full({64, 8}, 1, {DType::kBF16, kCuda});
  for (const bool by_gelu : {true, false}) {
    const auto activation = [=](std::span<const Tensor> in) {
      const Tensor sum = linear(in[0], ones);
      return by_gelu ? gelu(sum, "tanh") : silu(sum);
    };
    const Compiled compiled(activation, {{"w", ones}}, {});
    for (const int64_t copies : {int64_t{1}, int64_t{8}}) {  // few rows, many
      const Tensor x = zeros({count * copies, 8}, {DType::kBF16, kCpu});
      for (int64_t row = 0; row < x.size(0); ++row) {
        copy_(select(select(x, 0, row), 0, 0),
              full({}, extremes[row % count], {DType::kBF16, kCpu}));
      }
      const std::vector<Tensor> in = {to(x, kCuda)};
      const Tensor got = wide(compiled(in));
      for (int64_t row = 0; row < x.size(0); ++row) {
        const double value = wide(x).data<double>()[row * 8];
        const double result = got.data<double>()[row * 64];
        if (std::isnan(value) || value == -INFINITY) {
          EXPECT_TRUE(std::isnan(result)) << row;
        } else {
          const double want = value < 0 ? 0 : value;
          EXPECT_EQ(std::abs(result) < 1e-9 ? 0 : result, want) << value;
        }
      }
    }
  }
}

}  // namespace
}  // namespace epi

#endif
