// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/glu_mlp.h"
#include "epilogue/nn/safetensors.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/nn/named_tensors.h"

namespace epi::nn {
namespace {

namespace fs = std::filesystem;

// y[o] = sum_i x[i] w[o, i] + b[o], in double.
std::vector<double> linear_reference(const std::vector<double>& x, int64_t rows, const Linear& l) {
  const int64_t in = l.weight.size(1);
  const int64_t out = l.weight.size(0);
  std::vector<double> y(static_cast<size_t>(rows * out));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < out; ++o) {
      double sum = l.bias.defined() ? static_cast<double>(l.bias.data<float>()[o]) : 0;
      for (int64_t i = 0; i < in; ++i) {
        sum += x[static_cast<size_t>(r * in + i)] *
               static_cast<double>(l.weight.data<float>()[o * in + i]);
      }
      y[static_cast<size_t>(r * out + o)] = sum;
    }
  }
  return y;
}

double activate(double x, GluActivation activation) {
  switch (activation) {
    case GluActivation::kGelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case GluActivation::kGeluTanh:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case GluActivation::kSilu:
      break;
  }
  return x / (1 + std::exp(-x));
}

class GluMlpTest : public testing::TestWithParam<std::tuple<GluActivation, bool>> {};

TEST_P(GluMlpTest, MatchesFloat64Reference) {
  register_cpu_backend();
  const auto [activation, bias] = GetParam();
  GluMlp mlp(24, 40, activation, bias);
  init_normal(mlp, 11);
  const Tensor x = randn({3, 7, 24}, 12);
  std::vector<double> input(x.data<float>(), x.data<float>() + x.numel());
  auto gate = linear_reference(input, 21, mlp.gate_proj);
  const auto up = linear_reference(input, 21, mlp.up_proj);
  for (size_t i = 0; i < gate.size(); ++i) gate[i] = activate(gate[i], activation) * up[i];
  const auto expected = linear_reference(gate, 21, mlp.down_proj);
  const Tensor y = mlp.forward(x);
  ASSERT_EQ(y.shape(), x.shape());
  // Values are of order one, and f32 sums of 24 and 40 terms stay within a few ulp.
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(y.data<float>()[i], expected[i], 5e-6);
}

INSTANTIATE_TEST_SUITE_P(All, GluMlpTest,
                         testing::Combine(testing::Values(GluActivation::kGelu,
                                                          GluActivation::kGeluTanh,
                                                          GluActivation::kSilu),
                                          testing::Bool()));

class ModuleFiles : public testing::Test {
 protected:
  void SetUp() override {
    register_cpu_backend();
    path_ = fs::path(testing::TempDir()) / "epilogue_module.safetensors";
    init_normal(saved_, 1);
    ASSERT_TRUE(save_safetensors(path_, named_tensors(saved_, "model.layers.0.mlp.")));
  }
  void TearDown() override { fs::remove(path_); }

  Checkpoint open() { return Checkpoint::open(path_).value(); }

  GluMlp saved_{8, 16, GluActivation::kSilu, true};
  fs::path path_;
};

TEST_F(ModuleFiles, LoadsSavedWeightsWithoutACopy) {
  GluMlp loaded(8, 16, GluActivation::kSilu, true);
  const Checkpoint checkpoint = open();
  ASSERT_TRUE(loaded.load(checkpoint, "model.layers.0.mlp."));
  const Tensor x = randn({5, 8}, 3);
  const Tensor difference = sub(loaded.forward(x), saved_.forward(x));
  EXPECT_EQ(amax(mul(difference, difference)).data<float>()[0], 0);
  EXPECT_EQ(loaded.up_proj.bias.raw_data(),
            checkpoint.tensor("model.layers.0.mlp.up_proj.bias")->raw_data());
}

TEST_F(ModuleFiles, FailedLoadReportsTensorAndChangesNothing) {
  const Checkpoint checkpoint = open();
  GluMlp wrong_shape(8, 17, GluActivation::kSilu, true);
  const std::byte* before = wrong_shape.gate_proj.weight.raw_data();
  const auto loaded = wrong_shape.load(checkpoint, "model.layers.0.mlp.");
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find(
                "gate_proj.weight\" is f32 [16, 8], the module needs f32 [17, 8]"),
            std::string::npos)
      << loaded.error().message;
  EXPECT_EQ(wrong_shape.gate_proj.weight.raw_data(), before);

  GluMlp wrong_dtype(8, 16, GluActivation::kSilu, true, DType::kBF16);
  EXPECT_FALSE(wrong_dtype.load(checkpoint, "model.layers.0.mlp."));
  GluMlp wrong_prefix(8, 16, GluActivation::kSilu, true);
  const auto absent = wrong_prefix.load(checkpoint, "layers.");
  ASSERT_FALSE(absent);
  EXPECT_NE(absent.error().message.find("layers.gate_proj.weight"), std::string::npos);
}

TEST(GluMlp, UsesParameterNamesOfCheckpoints) {
  GluMlp mlp(4, 8, GluActivation::kSilu, true);
  std::vector<std::string> names;
  for (const auto& parameter : mlp.parameters()) names.push_back(parameter.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"gate_proj.weight", "gate_proj.bias", "up_proj.weight",
                                      "up_proj.bias", "down_proj.weight", "down_proj.bias"}));
}

TEST_F(ModuleFiles, SizesComeFromTheCheckpoint) {
  const auto checkpoint = Checkpoint::open(path_);
  ASSERT_TRUE(checkpoint);
  for (const char* prefix : {"model.layers.0.mlp.", "model.layers.0.mlp"}) {
    const auto mlp = GluMlp::from(*checkpoint, prefix, saved_.activation);
    ASSERT_TRUE(mlp) << mlp.error().message;
    EXPECT_EQ(mlp->gate_proj.weight.shape(), saved_.gate_proj.weight.shape());
    EXPECT_EQ(mlp->gate_proj.bias.defined(), saved_.gate_proj.bias.defined());
    const Tensor x = randn({3, saved_.gate_proj.weight.size(1)}, 5);
    const Tensor got = mlp->forward(x);
    const Tensor want = saved_.forward(x);
    for (int64_t i = 0; i < want.numel(); ++i) {
      ASSERT_EQ(got.data<float>()[i], want.data<float>()[i]) << i;
    }
  }
  const auto missing = GluMlp::from(*checkpoint, "model.layers.9.mlp.", saved_.activation);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("model.layers.9.mlp.gate_proj.weight"), std::string::npos)
      << missing.error().message;
}

TEST_F(ModuleFiles, RefusesToRunWithoutValues) {
  GluMlp mlp(24, 40, GluActivation::kSilu);
  const Tensor x = randn({3, 24}, 1);
  try {
    mlp.forward(x);
    FAIL() << "ran";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("have no values: load them first"), std::string::npos)
        << error.what();
  }
  mlp.to(kCpu);
  EXPECT_THROW(mlp.forward(x), Error);
  init_normal(mlp, 1);
  EXPECT_EQ(mlp.forward(x).shape(), x.shape());
}

// Otherwise a write into one would not be known to the other.
TEST_F(ModuleFiles, TensorsOfOneNameShareTheirStorage) {
  const auto checkpoint = Checkpoint::open(path_);
  ASSERT_TRUE(checkpoint);
  const auto a = GluMlp::from(*checkpoint, "model.layers.0.mlp", saved_.activation);
  const auto b = GluMlp::from(*checkpoint, "model.layers.0.mlp", saved_.activation);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->gate_proj.weight.storage(), b->gate_proj.weight.storage());
  EXPECT_NE(a->gate_proj.weight.storage(), a->up_proj.weight.storage());
}

}  // namespace
}  // namespace epi::nn
