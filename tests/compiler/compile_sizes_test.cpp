// SPDX-License-Identifier: Apache-2.0
// Which sizes of a compiled function's inputs may change, and what it says when they may not.
#include <gtest/gtest.h>

#include "tests/compiler/compile_helpers.h"

namespace epi {
namespace {

TEST(Compile, StridedInputsKeepDynamicSizes) {
  register_cpu_backend();
  const auto function = [](Inputs in) { return add(in[0], in[1]); };
  const Compiled compiled(function, {}, {});
  for (const int64_t rows : {3, 5, 1, 0, 9}) {
    const Tensor dense = randn({rows, 16}, 1);
    const Tensor narrowed = narrow(randn({rows, 40}, 2), 1, 8, 16);
    const std::vector<Tensor> in = {dense, narrowed};
    expect_near(compiled(in), function(in));
  }
  EXPECT_EQ(compiled.recompiles(), 0);
  for (const int64_t rows : {3, 4}) {
    const std::vector<Tensor> expanded = {randn({rows, 16}, 1),
                                          expand(randn({1, 16}, 2), {rows, 16})};
    expect_near(compiled(expanded), function(expanded));
  }
  EXPECT_EQ(compiled.recompiles(), 1) << "another layout";
}

TEST(Compile, MasksDoNotRecompileForEachSequence) {
  register_cpu_backend();
  const auto attend = [](Inputs in) {
    const Tensor scores = matmul(in[0], transpose(in[0], -1, -2));
    return matmul(softmax(add(scores, in[1]), -1), in[0]);
  };
  const Compiled compiled(attend, {}, {});
  for (const int64_t sequence : {5, 7, 12, 6}) {
    const std::vector<Tensor> in = {randn({2, sequence, 8}, 1), randn({sequence, sequence}, 2)};
    expect_near(compiled(in), attend(in));
  }
  EXPECT_EQ(compiled.recompiles(), 0);
}

// Without the comparison, only sizes and integers of 0 and 1 are captured again.
TEST(Compile, SizesNeedNotBeCompared) {
  register_cpu_backend();
  int calls = 0;
  const auto step = [&calls](Inputs in, std::span<const int64_t> at) {
    ++calls;
    const Tensor last = narrow(in[0], 0, at[0], 1);
    return in[0].size(0) == 1 ? neg(last) : exp(last);
  };
  for (const bool compares : {true, false}) {
    const Compiled compiled(step, {}, {.compare_sizes = compares});
    const auto check = [&](int64_t rows, int64_t row) {
      const Tensor x = randn({rows, 8}, 1);
      const Tensor expected = step({&x, 1}, {&row, 1});
      const int before = calls;
      expect_near(compiled({x}, {row}), expected);
      return calls - before;
    };
    check(9, 3);
    check(10, 4);
    EXPECT_EQ(check(11, 5), compares ? 1 : 0);
    EXPECT_EQ(check(9, 8), compares ? 1 : 0);
    EXPECT_EQ(compiled.recompiles(), 0);
    check(1, 0);
    EXPECT_EQ(compiled.recompiles(), 1) << "one row is a special case";
    EXPECT_EQ(check(12, 6), compares ? 1 : 0);
  }
}

// A last size is fixed until it changes.
TEST(Compile, SizesThatChangeBecomeDynamic) {
  register_cpu_backend();
  const auto function = [](Inputs in) { return exp(in[0]); };
  const Compiled compiled(function, {}, {});
  for (const int64_t columns : {5, 7, 12, 6, 5}) {
    const Tensor x = randn({3, columns}, 1);
    expect_near(compiled(x), exp(x));
  }
  EXPECT_EQ(compiled.recompiles(), 1);
  const Compiled free(function, {}, {.sizes = {{0, -1, Size::kFree}}});
  for (const int64_t columns : {5, 7, 12}) free(randn({3, columns}, 1));
  EXPECT_EQ(free.recompiles(), 0);
  const Compiled fixed(function, {}, {.sizes = {{0, 0, Size::kFixed}}});
  for (const int64_t rows : {3, 3, 4}) fixed(randn({rows, 5}, 1));
  EXPECT_EQ(fixed.recompiles(), 1);
}

TEST(Compile, SaysWhichSizeToFix) {
  register_cpu_backend();
  const auto branch = [](Inputs in) {
    return add(in[0], in[1].size(0) > 100 ? neg(in[1]) : exp(in[1]));
  };
  const std::vector<Tensor> in = {randn({6, 4, 3}, 1), randn({4, 3}, 2)};
  const Compiled compiled(branch, {}, {});
  const std::string why = message_of([&] { compiled(in); });
  EXPECT_NE(
      why.find("x0.size(1) and x1.size(0) decided which operators ran, or their arguments (it "
               "calls aten::exp, but calls aten::neg for other sizes): fix them with sizes = "
               "{{0, 1, Size::kFixed}, {1, 0, Size::kFixed}}"),
      std::string::npos)
      << why;
  const Compiled fixed(branch, {}, {.sizes = {{0, 1, Size::kFixed}, {1, 0, Size::kFixed}}});
  expect_near(fixed(in), branch(in));
  const auto constant = [](Inputs inputs) { return add(inputs[0], full({4, 1}, 1)); };
  const Compiled free(constant, {}, {.sizes = {{0, 0, Size::kFree}}});
  EXPECT_NE(message_of([&] {
              free(randn({4, 3}, 1));
            }).find("x.size(0) cannot be free: the function works only for the size of this call"),
            std::string::npos);
  for (const auto& [rule, part] : std::vector<std::pair<InputSize, std::string>>{
           {{2, 0, Size::kFree}, "no input 2, only 1"},
           {{0, 5, Size::kFree}, "and no dimension 5"}}) {
    const Compiled wrong(constant, {}, {.sizes = {rule}});
    EXPECT_NE(message_of([&] { wrong(randn({4, 3}, 1)); }).find(part), std::string::npos) << part;
  }
}

TEST(Compile, BeyondTheLimitThrowsRunsEagerlyOrEvicts) {
  register_cpu_backend();
  const auto function = [](const Tensor& x) { return exp(x); };
  for (const OverLimit over_limit : {OverLimit::kEager, OverLimit::kEvict}) {
    const Compiled compiled =
        compile(std::function<Tensor(const Tensor&)>(function),
                {.dynamic = false, .max_variants = 2, .over_limit = over_limit});
    for (const int64_t rows : {2, 3, 4, 5, 3}) {
      const Tensor x = randn({rows, 4}, 1);
      expect_near(compiled(x), exp(x));
    }
    EXPECT_EQ(compiled.variants().size(), 2U);
    EXPECT_EQ(compiled.recompiles(), over_limit == OverLimit::kEager ? 1 : 4);
  }
}

TEST(Compile, RefusesAnotherNumberOfInputs) {
  register_cpu_backend();
  const Tensor x = randn({2, 3}, 1);
  int calls = 0;
  const Compiled two(
      [&](Inputs in) {
        ++calls;
        return add(in[0], in[1]);
      },
      {}, {.name = "two"});
  two(std::vector<Tensor>{x, x});
  const int before = calls;
  EXPECT_NE(message_of([&] { two(x); }).find("two takes 2 inputs, not 1"), std::string::npos);
  EXPECT_EQ(calls, before);
  const Compiled one = compile(small_mlp());
  EXPECT_NE(
      message_of([&] { one(std::vector<Tensor>{}); }).find("the function takes 1 input, not 0"),
      std::string::npos);
}

// A size that is free for one input is so for the others that share it, and may be one.
TEST(Compile, FreeSizesExtendToEqualOnes) {
  register_cpu_backend();
  const auto function = [](Inputs in) { return add(in[0], in[1]); };
  const Compiled compiled(function, {}, {.sizes = {{1, -1, Size::kFree}}});
  for (const int64_t columns : {4, 7, 9, 1}) {
    const std::vector<Tensor> in = {randn({5, columns}, 1), randn({5, columns}, 2)};
    expect_near(compiled(in), function(in));
  }
  EXPECT_LE(compiled.recompiles(), 1);
  const std::vector<Tensor> row = {randn({5, 4}, 1), randn({5, 1}, 2)};
  expect_near(compiled(row), function(row));
}

// The function's own exceptions see the sizes of the call, not those of a capture.
TEST(Compile, ForeignExceptionsDoNotSeePlaceholders) {
  register_cpu_backend();
  const auto bounded = [](const Tensor& x) {
    if (x.size(0) > 512) throw std::invalid_argument("too many rows");
    return neg(x);
  };
  const Compiled compiled = compile(std::function<Tensor(const Tensor&)>(bounded));
  const Tensor x = randn({5, 4}, 1);
  expect_near(compiled(x), neg(x));
  EXPECT_THROW(compiled(randn({600, 4}, 1)), std::invalid_argument);
}

TEST(Compile, RejectsOrSpecializesFunctionsOfSizes) {
  register_cpu_backend();
  const Tensor a = randn({8}, 1);
  const Tensor b = randn({8}, 2);
  const std::vector<std::function<Tensor(const Tensor&)>> refused = {
      [](const Tensor& x) { return mul(x, full({}, 1.0 / static_cast<double>(x.size(0)))); },
      [&](const Tensor& x) { return add(x, x.size(0) > 100 ? a : b); },
      [](const Tensor& x) {
        const Tensor first = exp(x);
        const Tensor second = neg(x);
        return x.size(0) > 100 ? first : second;
      }};
  for (const auto& function : refused) {
    EXPECT_THROW(compile(function)(randn({4, 8}, 3)), Error);
    const Compiled fixed = compile(function, {.dynamic = false});
    expect_near(fixed(randn({4, 8}, 3)), function(randn({4, 8}, 3)));
  }
  const auto branch = [](const Tensor& x) { return x.size(0) > 16 ? neg(x) : exp(x); };
  const Compiled compiled = compile(std::function<Tensor(const Tensor&)>(branch));
  for (const int64_t rows : {2000, 4, 1500, 4, 3}) {
    const Tensor x = randn({rows, 8}, 4);
    expect_near(compiled(x), branch(x));
  }
  // One variant for more than 16 rows, and one each for 4 and for 3 rows.
  EXPECT_EQ(compiled.recompiles(), 2);
  EXPECT_NE(compiled.variants()[1].reason.find("it calls aten::exp"), std::string::npos);
  const auto one = [](const Tensor& x) { return x.size(0) == 1 ? exp(x) : neg(x); };
  const Compiled from_one = compile(std::function<Tensor(const Tensor&)>(one));
  for (const int64_t rows : {1, 5, 1}) {
    const Tensor x = randn({rows, 8}, 5);
    expect_near(from_one(x), one(x));
  }
}

TEST(Compile, DoesNotMistakePrimeSizesForSymbols) {
  register_cpu_backend();
  nn::Linear layer(32, 1009);
  nn::init_normal(layer, 1);
  const Tensor x = randn({3, 32}, 2);
  expect_near(compile(layer)(x), layer.forward(x));
  expect_compiled_equals([](const Tensor& y) { return neg(narrow(y, 1, 0, 1009)); },
                         randn({3, 2018}, 3));
  expect_compiled_equals([](const Tensor& y) { return exp(y); }, randn({2, 1, 2, 3, 1, 2, 4}, 4));
}

}  // namespace
}  // namespace epi
