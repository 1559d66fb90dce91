// SPDX-License-Identifier: Apache-2.0
#include "epilogue/profile/inputs.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"

namespace epi::profile {
namespace {

std::string text_of(std::initializer_list<Arg> list) {
  const Args args(std::span(list.begin(), list.size()));
  std::vector<int64_t> words(packed_words(args));
  pack_inputs(args, words.data());
  return inputs_json(words);
}

TEST(Inputs, FormatTensorLayoutAndType) {
  const Tensor x = t(zeros({64, 32}, {DType::kBF16, kCpu}));
  EXPECT_EQ(text_of({x}), R"({"Concrete Inputs": [""], "Input type": ["c10::BFloat16"], )"
                          R"("Input Strides": [[1, 32]], "Input Dims": [[32, 64]]})");
}

TEST(Inputs, FormatScalarsLikePyTorch) {
  const Dims dims{32, 64};
  EXPECT_EQ(
      text_of({1, -2.0, 0.1, true, dims, "tanh", Arg()}),
      R"({"Concrete Inputs": ["1", "-2.", "0.10000000000000001", "True", "[32, 64]", "", ""], )"
      R"("Input type": ["Scalar", "Scalar", "Scalar", "Scalar", "ScalarList", "", ""], )"
      R"("Input Strides": [[], [], [], [], [], [], []], )"
      R"("Input Dims": [[], [], [], [], [], [], []]})");
}

TEST(Inputs, FormatTensorListAsOneInput) {
  const std::array<Tensor, 2> parts = {zeros({2, 3}), zeros({4, 3})};
  EXPECT_EQ(text_of({std::span<const Tensor>(parts), 0}),
            R"({"Concrete Inputs": ["", "0"], "Input type": ["TensorList", "Scalar"], )"
            R"("Input Strides": [[[3, 1], [3, 1]], []], "Input Dims": [[[2, 3], [4, 3]], []]})");
}

TEST(Inputs, UseCppTypeNamesForDtypes) {
  const std::pair<DType, std::string_view> types[] = {
      {DType::kF64, "double"},    {DType::kF32, "float"},     {DType::kBF16, "c10::BFloat16"},
      {DType::kF16, "c10::Half"}, {DType::kI64, "long int"},  {DType::kI32, "int"},
      {DType::kBool, "bool"},     {DType::kI8, "signed char"}};
  for (const auto& [dtype, type] : types) {
    const Tensor x = empty({}, {dtype, kCpu});
    EXPECT_NE(text_of({x}).find(fmt::format("\"Input type\": [\"{}\"]", type)), std::string::npos);
  }
}

}  // namespace
}  // namespace epi::profile
