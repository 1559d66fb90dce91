// SPDX-License-Identifier: Apache-2.0
// Reads tests/data/reference.safetensors, which the reference implementation wrote (safetensors
// 0.8.0 with PyTorch 2.11).
#include <gtest/gtest.h>

#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/nn/safetensors.h"
#include "epilogue/ops/functional.h"

namespace epi::nn {
namespace {

class ReferenceFile : public testing::Test {
 protected:
  ReferenceFile() { register_cpu_backend(); }

  // The values of a tensor as doubles, in row-major order.
  std::vector<double> values(const char* name) {
    const Tensor x = to(file_.tensor(name).value(), DType::kF64);
    return {x.data<double>(), x.data<double>() + x.numel()};
  }

  SafetensorsFile file_ = SafetensorsFile::open(EPI_TEST_DATA "/reference.safetensors").value();
};

using Values = std::vector<double>;

TEST_F(ReferenceFile, HasTheValuesPyTorchWrote) {
  EXPECT_EQ(values("f64"), (Values{0, 0.125, 0.25, 0.375, 0.5, 0.625}));
  EXPECT_EQ(values("f32"), (Values{-2.5, -1.5, -0.5, 0.5, 1.5}));
  EXPECT_EQ(values("bf16"), (Values{0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 2.75}));
  EXPECT_EQ(values("f16"), (Values{-1, -0.5, 0, 0.5, 1, 1.5, 2}));
  EXPECT_EQ(values("i64"), (Values{-0x1p40, 0, 0x1p40}));
  EXPECT_EQ(values("i32"), (Values{1, -2}));
  EXPECT_EQ(values("bool"), (Values{1, 0, 1}));
  EXPECT_EQ(values("scalar"), (Values{3.5}));
  EXPECT_EQ(file_.tensor("scalar")->shape(), Dims{});
  EXPECT_EQ(file_.tensor("empty")->shape(), (Dims{0, 4}));
}

TEST_F(ReferenceFile, UnsupportedDtypeFailsOnAccess) {
  EXPECT_TRUE(file_.contains("u8"));
  const auto tensor = file_.tensor("u8");
  ASSERT_FALSE(tensor);
  EXPECT_NE(tensor.error().message.find("U8"), std::string::npos);
}

}  // namespace
}  // namespace epi::nn
