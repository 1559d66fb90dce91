// SPDX-License-Identifier: Apache-2.0
// The built package epilogue/glu: its CPU kernels against float64, its errors, and several versions
// of a package in one process.
#include <cmath>

#include "epilogue/compiler/compile.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/hub/kernel.h"
#include "epilogue/hub/prebuilt_glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/hub/glu_reference.h"
#include "tests/hub/test_package.h"

namespace epi::hub {
namespace {

class Glu : public ::testing::TestWithParam<DType> {
 protected:
  void SetUp() override { register_cpu_backend(); }
};

TEST_P(Glu, KernelsMatchFloat64WithinRounding) {
  const auto glu = get_kernel("epilogue/glu", 1);
  ASSERT_TRUE(glu) << glu.error().message;
  for (const Dims& shape : {Dims{1}, Dims{7}, Dims{3, 5, 17}, Dims{64, 1000}, Dims{2, 0}, Dims{}}) {
    const Tensor gate = mul(randn(shape, 1, {GetParam()}), 4.0);
    const Tensor up = randn(shape, 2, {GetParam()});
    expect_close(glu->call("gelu_tanh_and_mul", {gate, up}), reference(gate, up, gelu_tanh));
    expect_close(glu->call("silu_and_mul", {gate, up}), reference(gate, up, silu_of));
  }
}

TEST_P(Glu, ViewsAndCopiesGiveSameResult) {
  const auto glu = get_kernel("epilogue/glu", 1);
  ASSERT_TRUE(glu) << glu.error().message;
  const Tensor both = randn({3, 5, 34}, 3, {GetParam()});
  const Tensor gate = slice(both, 2, 0, 17);
  const Tensor up = slice(both, 2, 17, 34);
  const Tensor from_views = glu->call("silu_and_mul", {gate, up});
  EXPECT_EQ(from_views.shape(), (Dims{3, 5, 17}));
  expect_equal(from_views, glu->call("silu_and_mul", {clone(gate), clone(up)}));
  const Tensor transposed = t(randn({17, 6}, 4, {GetParam()}));
  expect_equal(glu->call("silu_and_mul", {transposed, transposed}),
               glu->call("silu_and_mul", {clone(transposed), clone(transposed)}));
}

TEST_P(Glu, LayerMatchesModule) {
  const auto glu = get_kernel("epilogue/glu", 1);
  ASSERT_TRUE(glu) << glu.error().message;
  for (const auto activation : {nn::GluActivation::kGeluTanh, nn::GluActivation::kSilu}) {
    for (const bool bias : {false, true}) {
      nn::GluMlp mlp(24, 40, activation, bias, GetParam());
      nn::init_normal(mlp, 5);
      const GluMlp layer(mlp, *glu);
      const Tensor x = randn({2, 7, 24}, 6, {GetParam()});
      const Tensor y = layer.forward(x);
      EXPECT_EQ(y.shape(), (Dims{2, 7, 24}));
      // Eager mode also rounds the activation before the multiplication.
      const Tensor expected = mlp.forward(x);
      const double bound = GetParam() == DType::kF32 ? 1e-5 : 0.05;
      EXPECT_LT(largest_difference(y, expected), bound);
    }
  }
}

// Calls of package kernels become part of a compiled function.
TEST_P(Glu, KernelsCanBeCompiled) {
  const auto glu = get_kernel("epilogue/glu", 1);
  ASSERT_TRUE(glu) << glu.error().message;
  const auto function = [&](const Tensor& x) {
    return relu(glu->call("silu_and_mul", {neg(x), mul(x, 2.0)}));
  };
  const CompileOptions without_jit{.fuse = Fuse::kNone};  // runs in builds without LLVM, too
  const Compiled compiled = compile(function, without_jit);
  for (const Dims& shape : {Dims{3, 5, 17}, Dims{4, 2, 17}, Dims{1, 1, 17}}) {
    const Tensor x = randn(shape, 1, {GetParam()});
    expect_equal(compiled(x), function(x));
  }
  EXPECT_EQ(compiled.recompiles(), 0);
  nn::GluMlp mlp(24, 40, nn::GluActivation::kSilu, false, GetParam());
  nn::init_normal(mlp, 5);
  const GluMlp layer(mlp, *glu);
  const Compiled block = compile(layer, without_jit);
  const Tensor x = randn({2, 7, 24}, 6, {GetParam()});
  const double bound = GetParam() == DType::kF32 ? 1e-5 : 0.05;  // as in LayerMatchesModule
  EXPECT_LT(largest_difference(block(x), layer.forward(x)), bound);
}

INSTANTIATE_TEST_SUITE_P(DTypes, Glu, ::testing::Values(DType::kF32, DType::kBF16, DType::kF16),
                         [](const auto& dtype) { return std::string(name(dtype.param)); });

TEST(GluPackage, ReportsMissingLayersExportsAndVersions) {
  register_cpu_backend();
  const auto glu = get_kernel("epilogue/glu", 1);
  ASSERT_TRUE(glu) << glu.error().message;
  try {
    const GluMlp layer(nn::GluMlp(8, 8, nn::GluActivation::kGelu), *glu);
    FAIL() << "the package has no erf gelu";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "[hub] epilogue/glu@1 has no GluMlp for this activation, only for: geglu, swiglu");
  }
  EXPECT_THROW(glu->call("relu_and_mul", {zeros({2}), zeros({2})}), Error);
  EXPECT_THROW(glu->call("silu_and_mul", {zeros({2}, {DType::kF64}), zeros({2}, {DType::kF64})}),
               Error);
  const auto none = get_kernel("epilogue/glu", 99);
  ASSERT_FALSE(none);
  EXPECT_TRUE(none.error().message.starts_with("epilogue/glu@99: not in ")) << none.error().message;
  const auto hopper = get_kernel("epilogue/glu", 2);
  ASSERT_FALSE(hopper);  // version 2 does not run on the CPU
}

// The same library as version 7 under another name, which the loader treats as different code.
TEST_F(TestPackage, LoadsTwoVersionsSideBySide) {
  register_cpu_backend();
  const auto first = get_kernel("epilogue/glu", 1);
  ASSERT_TRUE(first) << first.error().message;
  const Manifest& manifest = first->manifest();
  const auto built = *built_packages();
  const auto folder = built / path_of({manifest.name, manifest.version, manifest.variant});
  write(top_ / "again/libglu.so", read(folder / manifest.code));
  write(top_ / "again/recipe.json", R"({"name": "test/glu", "version": 7, "license": "MIT",
    "code": "libglu.so", "exports": [{"name": "silu_and_mul", "dtypes": ["f32"],
    "operands": [{"name": "gate", "shape": ["m", "n"]}, {"name": "up", "shape": ["m", "n"]},
                 {"name": "out", "shape": ["m", "n"], "output": true}]}]})");
  ASSERT_TRUE(assemble({top_ / "again/recipe.json", manifest.variant, "", packages()}));
  sign();
  const auto resolution = resolve({"test/glu", 7}, this_host(kCpu), options_);
  ASSERT_TRUE(resolution) << resolution.error().message;
  const auto second = load(*resolution, kCpu);
  ASSERT_TRUE(second) << second.error().message;
  const Tensor x = randn({100}, 1);
  expect_equal(first->call("silu_and_mul", {x, x}), second->call("silu_and_mul", {x, x}));
}

TEST_F(TestPackage, RejectsCodeThatDoesNotMatchManifest) {
  const auto resolution = resolve({"test/one", 1}, host(), options_);
  ASSERT_TRUE(resolution) << resolution.error().message;
  const auto kernels = load(*resolution, kCpu);
  ASSERT_FALSE(kernels);  // an ELF header is not a library
  EXPECT_NE(kernels.error().message.find("test/one@1 lib/one.so"), std::string::npos);
  // A library that lacks an export of its manifest.
  const auto built = get_kernel("epilogue/glu", 1);
  ASSERT_TRUE(built);
  const auto& manifest = built->manifest();
  const auto folder =
      *built_packages() / path_of({manifest.name, manifest.version, manifest.variant});
  write(top_ / "source/lib/one.so", read(folder / manifest.code));
  ASSERT_TRUE(assemble({top_ / "source/recipe.json", manifest.variant, "", packages()}));
  sign();
  const auto again = resolve({"test/one", 1}, this_host(kCpu), options_);
  ASSERT_TRUE(again) << again.error().message;
  const auto lacking = load(*again, kCpu);
  ASSERT_FALSE(lacking);
  EXPECT_TRUE(lacking.error().message.ends_with("has no function twice"));
}

TEST_F(TestPackage, DoesNotLoadUntrustedPackage) {
  write(folder() / "README", "READ ME");
  const auto resolution = resolve({"test/one", 1}, host(), options_);
  ASSERT_TRUE(resolution) << resolution.error().message;
  const auto kernels = load(*resolution, kCpu);
  ASSERT_FALSE(kernels);
  EXPECT_TRUE(kernels.error().message.starts_with("test/one@1: refused:\n  README: sha256 is"));
}

TEST_F(TestPackage, RefusalGivesReasonForEachVariant) {
  Host other = host();
  other.architecture = "aarch64";
  const auto resolution = resolve({"test/one", 1}, other, options_);
  ASSERT_TRUE(resolution) << resolution.error().message;
  EXPECT_EQ(refusal_text(*resolution), fmt::format("test/one@1: no variant runs here:\n"
                                                   "  {}: needs x86_64, this CPU is aarch64\n"
                                                   "  {}: needs x86_64, this CPU is aarch64",
                                                   kBaseline, kOther));
}

}  // namespace
}  // namespace epi::hub
