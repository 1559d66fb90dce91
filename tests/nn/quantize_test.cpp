// SPDX-License-Identifier: Apache-2.0
#include "epilogue/nn/quantize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "epilogue/base/temporary_folder.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/ops/functional.h"
#include "epilogue/ops/int8_groups.h"
#include "epilogue/tensor/factories.h"
#include "tests/nn/named_tensors.h"

namespace epi::nn {
namespace {

class Quantize : public ::testing::Test {
 protected:
  void SetUp() override { register_cpu_backend(); }
};

GluMlp random_mlp(DType dtype = DType::kF32, bool bias = false) {
  GluMlp mlp(70, 100, GluActivation::kSilu, bias, dtype);
  init_normal(mlp, 1);
  return mlp;
}

double relative_error(const Tensor& got, const Tensor& want) {
  double difference = 0;
  double size = 0;
  for (int64_t i = 0; i < want.numel(); ++i) {
    difference += std::pow(double{got.data<float>()[i]} - double{want.data<float>()[i]}, 2);
    size += std::pow(double{want.data<float>()[i]}, 2);
  }
  return std::sqrt(difference / size);
}

TEST_F(Quantize, RoundsToTheNearestMultipleOfTheScale) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const int64_t k : {1, 32, 33, 100}) {
      for (const bool in_groups : {false, true}) {
        const Tensor weight = randn({7, k}, 3, {dtype, kCpu});
        const Int8Weight quantized = quantize_weight(weight, in_groups);
        const int64_t groups = in_groups ? int8_groups(k) : 1;
        ASSERT_EQ(quantized.scale.shape(), (Dims{7, groups}));
        const Tensor numbers = to(weight, DType::kF32);
        std::vector<float> largest(static_cast<size_t>(7 * groups), 0);
        for (int64_t i = 0; i < 7 * k; ++i) {
          const int64_t at = i / k * groups + (in_groups ? i % k / kInt8Group : 0);
          const float scale = quantized.scale.data<float>()[at];
          const float number = numbers.data<float>()[i];
          const int whole = quantized.weight.data<int8_t>()[i];
          EXPECT_LE(std::abs(number - scale * static_cast<float>(whole)), 0.5001F * scale);
          EXPECT_GE(whole, -127);
          largest[static_cast<size_t>(at)] =
              std::max(largest[static_cast<size_t>(at)], std::abs(number));
        }
        for (size_t i = 0; i < largest.size(); ++i) {
          EXPECT_EQ(quantized.scale.data<float>()[i], largest[i] / 127);
        }
      }
    }
  }
}

TEST_F(Quantize, KeepsZerosAndTinyWeights) {
  const Tensor weight = zeros({2, 40});
  weight.data<float>()[3] = std::numeric_limits<float>::denorm_min();
  weight.data<float>()[45] = std::numeric_limits<float>::min();
  const Int8Weight quantized = quantize_weight(weight);
  EXPECT_EQ(quantized.scale.data<float>()[0], 0);
  EXPECT_EQ(quantized.weight.data<int8_t>()[3], 0);
  EXPECT_EQ(quantized.weight.data<int8_t>()[45], 127);
}

TEST_F(Quantize, RejectsWeightsThatAreNotFiniteMatrices) {
  const auto message = [](const Tensor& weight) -> std::string {
    try {
      quantize_weight(weight);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const Tensor weight = zeros({4, 40});
  weight.data<float>()[2 * 40 + 33] = std::numeric_limits<float>::infinity();
  EXPECT_EQ(message(weight), "[quantize] the weight: row 2 is not finite");
  EXPECT_NE(message(zeros({4})).find("floating-point matrix"), std::string::npos);
  EXPECT_NE(message(zeros({4, 4}, {DType::kI8, kCpu})).find("is i8 [4, 4], not"),
            std::string::npos);
}

TEST_F(Quantize, ReportsTheErrorOfEachLayer) {
  GluMlp by_groups = random_mlp();
  GluMlp by_rows = by_groups;
  const GluMlp original = by_groups;
  const auto groups = quantize(by_groups);
  const auto rows = quantize(by_rows, {.in_groups = false});
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].name, "gate_proj");
  EXPECT_EQ(groups[2].name, "down_proj");
  for (size_t i = 0; i < 3; ++i) {
    // A uniform error of half a step of max / 127, where the maximum of 32 normal numbers is about
    // 2.1 times their deviation and that of 100 about 2.5 times.
    EXPECT_NEAR(groups[i].error.float_input, 2.1 / 127 / std::sqrt(12), 0.001);
    EXPECT_GT(rows[i].error.float_input, groups[i].error.float_input);
    EXPECT_NEAR(groups[i].error.int8_input, std::sqrt(2) * groups[i].error.float_input, 0.001);
  }
  const Tensor x = randn({5, 70}, 9);
  EXPECT_LT(relative_error(by_groups.forward(x), original.forward(x)), 0.02);
  by_groups.gate_proj.int8_input = false;
  const Tensor gate = original.gate_proj.forward(x);
  EXPECT_LT(relative_error(by_groups.gate_proj.forward(x), gate), 0.006);
}

TEST_F(Quantize, LoadsWhatItSaved) {
  const auto folder = TemporaryFolder::make(testing::TempDir(), "epilogue_quantize_");
  const auto path = folder->path() / "mlp.safetensors";
  for (const bool in_groups : {false, true}) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      GluMlp mlp = random_mlp(dtype, true);
      quantize(mlp, {.in_groups = in_groups});
      ASSERT_TRUE(save_safetensors(path, named_tensors(mlp, "layer.")));
      const auto checkpoint = Checkpoint::open(path);
      ASSERT_TRUE(checkpoint) << checkpoint.error().message;
      EXPECT_TRUE(checkpoint->contains("layer.gate_proj.weight_scale"));
      EXPECT_EQ(checkpoint->tensor("layer.gate_proj.weight")->dtype(), DType::kI8);
      const auto loaded = GluMlp::from(*checkpoint, "layer", GluActivation::kSilu);
      ASSERT_TRUE(loaded) << loaded.error().message;
      const Tensor x = randn({3, 70}, 2, {dtype, kCpu});
      const Tensor want = to(mlp.forward(x), DType::kF32);
      EXPECT_EQ(relative_error(to(loaded->forward(x), DType::kF32), want), 0);
    }
  }
}

TEST_F(Quantize, AcceptsScalesOfOtherDTypes) {
  const auto folder = TemporaryFolder::make(testing::TempDir(), "epilogue_quantize_");
  const auto path = folder->path() / "mlp.safetensors";
  GluMlp mlp = random_mlp();
  quantize(mlp);
  for (const auto& [name, layer] : mlp.layers()) {
    layer->weight_scale = to(layer->weight_scale, DType::kBF16);
  }
  ASSERT_TRUE(save_safetensors(path, named_tensors(mlp)));
  const auto loaded = GluMlp::from(*Checkpoint::open(path), "", GluActivation::kSilu);
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->up_proj.weight_scale.dtype(), DType::kBF16);
  const Tensor x = randn({3, 70}, 2);
  EXPECT_EQ(relative_error(loaded->forward(x), mlp.forward(x)), 0);
}

TEST_F(Quantize, NamesMissingAndWrongScales) {
  const auto folder = TemporaryFolder::make(testing::TempDir(), "epilogue_quantize_");
  const auto path = folder->path() / "mlp.safetensors";
  GluMlp mlp = random_mlp();
  quantize(mlp);
  const auto failure_of = [&](std::vector<std::pair<std::string, Tensor>> tensors) {
    EXPECT_TRUE(save_safetensors(path, tensors));
    const auto loaded = GluMlp::from(*Checkpoint::open(path), "", GluActivation::kSilu);
    return loaded ? std::string() : loaded.error().message;
  };
  auto tensors = named_tensors(mlp);
  std::erase_if(tensors, [](const auto& entry) { return entry.first == "up_proj.weight_scale"; });
  EXPECT_NE(failure_of(tensors).find("\"up_proj.weight\" is I8, but there is no"),
            std::string::npos);
  tensors.emplace_back("up_proj.weight_scale", zeros({100, 2}));
  EXPECT_NE(failure_of(tensors).find("[100, 1] or [100, 3]"), std::string::npos);
  GluMlp plain = random_mlp();
  const auto loaded = plain.load(*Checkpoint::open(path));
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("is i8 [100, 70], the module needs f32"),
            std::string::npos);
}

TEST_F(Quantize, LoadsPartlyQuantizedBlocks) {
  const auto folder = TemporaryFolder::make(testing::TempDir(), "epilogue_quantize_");
  const auto path = folder->path() / "mlp.safetensors";
  for (const size_t kept : {0, 1, 2}) {
    GluMlp mlp = random_mlp(DType::kBF16);
    for (size_t i = 0; i < 3; ++i) {
      if (i != kept) quantize(*mlp.layers()[i].layer);
    }
    ASSERT_TRUE(save_safetensors(path, named_tensors(mlp)));
    const auto loaded = GluMlp::from(*Checkpoint::open(path), "", GluActivation::kSilu);
    ASSERT_TRUE(loaded) << loaded.error().message;
    const Tensor x = randn({3, 70}, 2, {DType::kBF16, kCpu});
    const Tensor want = to(mlp.forward(x), DType::kF32);
    EXPECT_EQ(relative_error(to(loaded->forward(x), DType::kF32), want), 0);
  }
}

TEST_F(Quantize, NeedsLayers) {
  class NoLayers : public Module {
   public:
    std::vector<NamedParameter> parameters() override { return {}; }
  };
  NoLayers module;
  EXPECT_THROW(quantize(module), Error);
  GluMlp empty_mlp(70, 100);
  EXPECT_THROW(quantize(empty_mlp), Error);
}

}  // namespace
}  // namespace epi::nn
