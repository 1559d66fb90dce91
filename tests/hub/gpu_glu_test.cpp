// SPDX-License-Identifier: Apache-2.0
// epilogue/glu on a GPU: both versions against float64, over sizes and layouts.
#include "epilogue/cuda/cuda_device.h"
#include "epilogue/hub/kernel.h"
#include "epilogue/hub/prebuilt_glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/cuda/with_device.h"
#include "tests/hub/glu_reference.h"

namespace epi::hub {
namespace {

class GpuGlu : public cuda::WithDevice {
 protected:
  static Kernels kernels(int64_t version) {
    auto glu = get_kernel("epilogue/glu", version, kCuda);
    EXPECT_TRUE(glu) << glu.error().message;
    return std::move(glu.value());
  }
  static bool is_hopper() { return (*cuda::devices())[0].major == 9; }
};

TEST_F(GpuGlu, PointwiseKernelsMatchFloat64WithinRounding) {
  const Kernels glu = kernels(1);
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const Dims& shape : {Dims{1}, Dims{7}, Dims{8}, Dims{3, 5, 17}, Dims{2, 0}, Dims{},
                              Dims{64, 1000}, Dims{33, 4096}, Dims{1, 100001}}) {
      const Tensor gate = mul(randn(shape, 1, {dtype, kCuda}), 4.0);
      const Tensor up = randn(shape, 2, {dtype, kCuda});
      expect_close(glu.call("gelu_tanh_and_mul", {gate, up}), reference(gate, up, gelu_tanh));
      expect_close(glu.call("silu_and_mul", {gate, up}), reference(gate, up, silu_of));
    }
  }
}

// Halves of a packed tensor have rows with gaps. They are read in vectors, or one by one if the
// width is odd.
TEST_F(GpuGlu, ViewsAndCopiesGiveSameResult) {
  const Kernels glu = kernels(1);
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const int64_t n : {17, 64, 256, 264, 3072}) {
      const Tensor both = randn({3, 5, 2 * n}, 3, {dtype, kCuda});
      const Tensor gate = slice(both, 2, 0, n);
      const Tensor up = slice(both, 2, n, 2 * n);
      expect_equal(glu.call("silu_and_mul", {gate, up}),
                   glu.call("silu_and_mul", {clone(gate), clone(up)}));
      // Shifted by one element, so nothing is aligned.
      const Tensor odd = slice(randn({15 * n + 1}, 4, {dtype, kCuda}), 0, 1, 15 * n + 1);
      expect_equal(glu.call("silu_and_mul", {odd, odd}),
                   glu.call("silu_and_mul", {clone(odd), clone(odd)}));
    }
  }
}

Tensor wide(const Tensor& x) { return to(to(x, kCpu), DType::kF64); }

// Allows the rounding of the result and of f32 sums of k products of normally distributed numbers.
void expect_rounded(const Tensor& found, const Tensor& expected, const char* what) {
  const std::vector<double> a = numbers(found);
  const std::vector<double> b = numbers(expected);
  ASSERT_EQ(a.size(), b.size());
  const double unit = found.dtype() == DType::kBF16 ? 0x1p-8 : 0x1p-11;
  for (size_t i = 0; i < a.size(); ++i) {
    ASSERT_NEAR(a[i], b[i], unit * std::abs(b[i]) + 1e-4) << what << ", element " << i;
  }
}

TEST_F(GpuGlu, TemplateGemmsMatchFloat64WithinRounding) {
  if (!is_hopper()) GTEST_SKIP() << "version 2 is for sm_90a";
  const Kernels glu = kernels(2);
  const std::vector<Dims> sizes = {{1, 8, 8},      {3, 72, 40},      {8, 256, 64},    {9, 104, 128},
                                   {16, 512, 96},  {33, 3000, 72},   {64, 64, 512},   {65, 200, 72},
                                   {128, 256, 64}, {300, 1032, 136}, {1000, 768, 264}};
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    for (const Dims& mnk : sizes) {
      const Tensor x = randn({mnk[0], mnk[2]}, 1, {dtype, kCuda});
      const double scale = 1 / std::sqrt(static_cast<double>(mnk[2]));
      const Tensor gate = mul(randn({mnk[1], mnk[2]}, 2, {dtype, kCuda}), scale);
      const Tensor up = mul(randn({mnk[1], mnk[2]}, 3, {dtype, kCuda}), scale);
      const Tensor gate_sum = matmul(wide(x), t(wide(gate)));
      const Tensor up_sum = matmul(wide(x), t(wide(up)));
      expect_rounded(glu.call("gelu_tanh_gate_up", {x, gate, up}),
                     mul(gelu(gate_sum, "tanh"), up_sum), "gelu_tanh_gate_up");
      expect_rounded(glu.call("silu_gate_up", {x, gate, up}), mul(silu(gate_sum), up_sum),
                     "silu_gate_up");
      expect_rounded(glu.call("linear", {x, gate}), gate_sum, "linear");
    }
  }
}

TEST_F(GpuGlu, LayerMatchesModuleForAnyNumberOfRows) {
  std::vector<int64_t> versions = {1};
  if (is_hopper()) versions.push_back(2);
  for (const auto activation : {nn::GluActivation::kGeluTanh, nn::GluActivation::kSilu}) {
    nn::GluMlp mlp(128, 320, activation, false, DType::kBF16);
    nn::init_normal(mlp, 5);
    mlp.to(kCuda);
    for (const int64_t version : versions) {
      const GluMlp layer(mlp, kernels(version));
      for (const int64_t rows : {1, 2, 15, 16, 17, 63, 64, 65, 127, 500, 2049}) {
        const Tensor x = randn({1, rows, 128}, 6, {DType::kBF16, kCuda});
        const Tensor y = layer.forward(x);
        EXPECT_EQ(y.shape(), (Dims{1, rows, 128}));
        // Eager mode also rounds gate, up and the activation. Both round the result, which may then
        // differ by one ulp.
        const double bound = 0.03 + 0x1p-7 * largest_difference(y, mul(y, 0.0));
        EXPECT_LT(largest_difference(y, mlp.forward(x)), bound) << rows << " rows, " << version;
        expect_equal(y, layer.forward(x));  // repeated calls give the same bits
      }
    }
  }
}

TEST_F(GpuGlu, RejectsSizesThatTemplateDoesNotSupport) {
  if (!is_hopper()) GTEST_SKIP() << "version 2 is for sm_90a";
  const TensorOptions options{DType::kBF16, kCuda};
  try {
    kernels(2).call("linear", {zeros({4, 12}, options), zeros({16, 12}, options)});
    FAIL() << "accepted k = 12";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "[linear] k is 12, must be a multiple of 8");
  }
}

}  // namespace
}  // namespace epi::hub
