// SPDX-License-Identifier: Apache-2.0
// Compiled functions with several results, integer arguments, and tensors that they write into.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tests/compiler/compile_helpers.h"

namespace epi {
namespace {

class CompileState : public OnTestDevice {};

Tensor random(const Dims& shape, uint64_t seed) { return to(randn(shape, seed), test_device()); }

// GEMMs of GPUs may add in another order when they are compiled.
void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const Tensor x = to(contiguous(a), kCpu);
  const Tensor y = to(contiguous(b), kCpu);
  const float tolerance = test_device() == kCpu ? 0 : 1e-5F;
  for (int64_t i = 0; i < x.numel(); ++i) {
    ASSERT_NEAR(x.data<float>()[i], y.data<float>()[i], tolerance) << i;
  }
}

// Calls the function eagerly and compiled on copies of the inputs: results and inputs afterwards
// must be equal.
void expect_same_effects(const compiler::AnyFunction& function, const Compiled& compiled,
                         const std::vector<Tensor>& inputs,
                         const std::vector<int64_t>& integers = {}) {
  std::vector<Tensor> eager_inputs;
  std::vector<Tensor> compiled_inputs;
  for (const Tensor& input : inputs) {
    eager_inputs.push_back(clone(input));
    compiled_inputs.push_back(clone(input));
  }
  const auto want = function({eager_inputs, integers});
  const auto got = compiled.run(compiled_inputs, integers);
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < want.size(); ++i) expect_equal(got[i], want[i]);
  for (size_t i = 0; i < inputs.size(); ++i) expect_equal(compiled_inputs[i], eager_inputs[i]);
}

TEST_F(CompileState, ReturnsSeveralTensors) {
  const auto function = [](Inputs in) -> std::vector<Tensor> {
    const Tensor sum = add(in[0], in[1]);
    return {sum, transpose(mul(sum, 2.0), 0, 1), in[1], add(in[0], in[1]), mul(sum, 1.0)};
  };
  const Compiled compiled = compile(function);
  for (const int64_t rows : {3, 5}) {
    const Tensor x = random({rows, 4}, 1);
    const Tensor y = random({rows, 4}, 2);
    expect_same_effects(function, compiled, {x, y});
    const auto results = compiled.run({x, y});
    EXPECT_EQ(results[2].storage(), y.storage());
    EXPECT_NE(results[0].storage(), results[3].storage());  // equal values, but separate tensors
    EXPECT_NE(results[0].storage(), results.back().storage());
  }
  EXPECT_EQ(compiled.recompiles(), 0);
  const Tensor x = random({3, 4}, 1);
  const std::vector<Tensor> twice = {x, x};
  EXPECT_NE(message_of([&] { compiled(twice); }).find("call run()"), std::string::npos);
}

TEST_F(CompileState, IntegersAreSymbolic) {
  const auto function = [](Inputs in, Integers at) -> std::vector<Tensor> {
    const Tensor rows = narrow(in[0], 0, at[0], at[1]);
    return {mul(select(in[0], 0, at[0] + at[1]), 2.0), neg(rows), mul(rows, 3.0),
            narrow(in[0], 0, 0, at[0] * 2 + 1)};
  };
  const Compiled compiled = compile(function);
  const Tensor x = random({40, 6}, 1);
  for (const auto& [start, length] :
       {std::pair<int64_t, int64_t>{5, 3}, {2, 9}, {1, 2}, {0, 1}, {0, 0}, {7, 30}, {19, 20}}) {
    expect_same_effects(function, compiled, {x}, {start, length});
  }
  EXPECT_EQ(compiled.recompiles(), 0);
}

TEST_F(CompileState, IntegersMayBeFactors) {
  const auto function = [](Inputs in, Integers at) {
    return mul(relu(in[0]), static_cast<double>(at[0]));
  };
  const Compiled compiled = compile(function);
  for (const int64_t factor : {3, 0, -4}) {
    expect_same_effects(function, compiled, {random({4, 4}, 1)}, {factor});
  }
  EXPECT_EQ(compiled.recompiles(), 0);
  const Compiled divides =
      compile([](Inputs in, Integers at) { return mul(in[0], 1.0 / static_cast<double>(at[0])); });
  const std::vector<Tensor> inputs = {random({4, 4}, 1)};
  const std::vector<int64_t> at = {4};
  EXPECT_NE(message_of([&] { divides(inputs, at); }).find("fixed_integers = {0}"),
            std::string::npos);
}

TEST_F(CompileState, NumbersMayBeNan) {
  const auto function = [](Inputs in) { return add(in[0], std::nan("")); };
  const Tensor y = to(compile(function)({random({4, 4}, 1)}), kCpu);
  EXPECT_TRUE(std::isnan(y.data<float>()[0]));
}

TEST_F(CompileState, SaysThatAnIntegerDecides) {
  const auto function = [](Inputs in, Integers at) { return at[0] > 4 ? relu(in[0]) : neg(in[0]); };
  const Tensor x = random({3, 4}, 1);
  const std::vector<Tensor> inputs = {x};
  const std::vector<int64_t> at = {4};
  const Compiled symbolic = compile(function);
  EXPECT_NE(message_of([&] { symbolic(inputs, at); }).find("fixed_integers = {0}"),
            std::string::npos);
  const Compiled fixed = compile(function, {.fixed_integers = {0}});
  for (const int64_t value : {4, 5, 4}) expect_same_effects(function, fixed, inputs, {value});
  EXPECT_EQ(fixed.recompiles(), 1);
  EXPECT_EQ(fixed.variants()[1].reason, "integer 0 is 5, was 4");
  EXPECT_NE(message_of([&] { fixed(inputs); }).find("takes 1 integer, not 0"), std::string::npos);
  const Compiled second = compile([](Inputs in, Integers numbers) {
    return mul(narrow(in[0], 0, numbers[0], 1), 0.5 * static_cast<double>(numbers[1]));
  });
  const std::vector<int64_t> numbers = {1, 3};
  EXPECT_NE(message_of([&] { second(inputs, numbers); }).find("fixed_integers = {1},"),
            std::string::npos);
  const Compiled none = compile([](Inputs in) { return relu(in[0]); });
  EXPECT_NE(message_of([&] { none(inputs, at); }).find("takes no integers"), std::string::npos);
}

TEST_F(CompileState, CacheGrowsWithoutRecompiling) {
  const auto function = [](Inputs in, Integers at) {
    copy_(narrow(in[1], 0, at[0], in[0].size(0)), in[0]);
    const Tensor seen = narrow(in[1], 0, 0, at[0] + in[0].size(0));
    return softmax(mm(in[0], t(seen)), -1);
  };
  const Compiled compiled = compile(function);
  const Tensor cache = to(full({64, 8}, 0), test_device());
  const Tensor expected = to(full({64, 8}, 0), test_device());
  for (int64_t position = 0; position < 60; ++position) {
    const Tensor x = random({1, 8}, static_cast<uint64_t>(position));
    const std::vector<int64_t> at = {position};
    const Tensor got = compiled(std::vector<Tensor>{x, cache}, at);
    expect_equal(got, function(std::vector<Tensor>{x, expected}, at));
    expect_equal(cache, expected);
  }
  EXPECT_EQ(compiled.recompiles(), 0);
}

TEST_F(CompileState, SequenceGrowsByConcatenation) {
  const auto function = [](Inputs in) -> std::vector<Tensor> {
    const std::vector<Tensor> parts = {in[0], in[1]};
    const Tensor all = cat(parts, 0);
    return {all, relu(all)};
  };
  const Compiled compiled = compile(function, {.sizes = {{1, 0, Size::kFixed}}});
  Tensor past = random({4, 8}, 1);
  for (int i = 0; i < 20; ++i) {
    const Tensor next = random({1, 8}, 2);
    expect_same_effects(function, compiled, {past, next});
    past = compiled.run({past, next})[0];
  }
  EXPECT_EQ(past.size(0), 24);
  EXPECT_EQ(compiled.recompiles(), 0);
}

// Reads before a write see the old values, reads after it the new ones.
TEST_F(CompileState, ReadsAndWritesKeepTheirOrder) {
  const std::vector<std::function<std::vector<Tensor>(Inputs)>> functions = {
      [](Inputs in) -> std::vector<Tensor> {  // a snapshot that is not a copy in the graph
        const Tensor before = mul(in[0], 1.0);
        copy_(in[0], in[1]);
        return {add(before, in[0]), in[0]};
      },
      [](Inputs in) -> std::vector<Tensor> {  // fused operators on both sides of the write
        const Tensor before = relu(in[0]);
        copy_(narrow(in[0], 0, 1, 1), narrow(in[1], 0, 0, 1));
        return {mul(before, in[0]), neg(before)};
      },
      [](Inputs in) -> std::vector<Tensor> {  // the same expression before and after
        const Tensor before = add(in[0], 1.0);
        copy_(in[0], in[1]);
        const Tensor after = add(in[0], 1.0);
        return {sub(after, before)};
      },
      [](Inputs in) -> std::vector<Tensor> {  // a view from before the write, read after it
        const Tensor row = select(in[0], 0, 1);
        copy_(narrow(in[0], 0, 1, 2), narrow(in[1], 0, 0, 2));
        copy_(row, mul(row, 3.0));
        return {neg(row), in[0]};
      },
      [](Inputs in) -> std::vector<Tensor> {  // overlapping source and destination
        copy_(narrow(in[0], 0, 1, 3), narrow(in[0], 0, 0, 3));
        return {neg(in[0])};
      },
      [](Inputs in) -> std::vector<Tensor> {  // into a result, not into a tensor of the caller
        const Tensor sum = add(in[0], in[1]);
        const Tensor same = add(in[0], in[1]);
        copy_(select(sum, 1, 2), select(in[1], 1, 0));
        return {sum, same, relu(sum)};
      },
      [](Inputs in) -> std::vector<Tensor> {  // an identity that must not become its input
        const Tensor copy = mul(in[0], 1.0);
        copy_(select(copy, 0, 0), select(in[1], 0, 1));
        return {copy};
      },
      [](Inputs in) -> std::vector<Tensor> {  // nothing reads the write
        copy_(in[1], relu(in[0]));
        return {mm(in[0], t(in[0]))};
      },
      [](Inputs in) -> std::vector<Tensor> {  // a GEMM between two writes
        copy_(in[1], in[0]);
        const Tensor product = add(mm(in[0], t(in[1])), 1.0);
        copy_(in[1], relu(in[1]));
        return {product, in[1]};
      },
  };
  for (const auto& function : functions) {
    for (const Fuse fuse : {Fuse::kNone, Fuse::kPointwise, Fuse::kEpilogue}) {
      const Compiled compiled = compile(function, {.fuse = fuse});
      for (const int64_t columns : {5, 8}) {
        SCOPED_TRACE(&function - functions.data());
        expect_same_effects(function, compiled, {random({4, columns}, 1), random({4, columns}, 2)});
      }
    }
  }
}

// The weights of a GEMM that the function writes are not packed once and for all.
TEST_F(CompileState, WritesIntoCapturedTensors) {
  const Tensor weight = random({6, 8}, 1);
  const Tensor expected = clone(weight);
  const auto with = [](const Tensor& state) {
    return [state](const Tensor& x) {
      const Tensor before = mm(x, t(state));
      copy_(narrow(state, 0, 2, 1), narrow(x, 0, 0, 1));
      return add(before, mm(x, t(state)));
    };
  };
  const Compiled compiled = compile(with(weight));
  for (uint64_t i = 0; i < 4; ++i) {
    const Tensor x = random({3, 8}, 7 + i);
    expect_near(to(compiled(x), kCpu), to(with(expected)(x), kCpu));
    expect_equal(weight, expected);
  }
  EXPECT_EQ(compiled.recompiles(), 0);
}

TEST_F(CompileState, RefusesSharedMemoryAndOwnTensors) {
  const Compiled writes = compile([](Inputs in) {
    copy_(in[0], in[1]);
    return neg(in[0]);
  });
  const Tensor both = random({4, 6}, 1);
  const std::vector<Tensor> apart = {narrow(both, 0, 0, 2), narrow(both, 0, 2, 2)};
  EXPECT_EQ(message_of([&] { writes(apart); }), "");
  const std::vector<Tensor> shared = {narrow(both, 0, 0, 2), narrow(both, 0, 1, 2)};
  EXPECT_NE(message_of([&] { writes(shared); }).find("overlaps that of input 1"),
            std::string::npos);

  const Compiled creates = compile([](Inputs in) {
    const Tensor scratch = empty({4, 6}, {DType::kF32, test_device()});
    copy_(scratch, in[0]);
    return scratch;
  });
  EXPECT_NE(message_of([&] { creates(both); }).find("that it creates"), std::string::npos);
  const Compiled without_symbols = compile([](const Tensor& x) {
    const Tensor scratch = empty({6}, {DType::kF32, test_device()});
    return copy_(scratch, x);
  });
  EXPECT_NE(message_of([&] { without_symbols(random({6}, 1)); }).find("that it creates"),
            std::string::npos);

  const Tensor first = narrow(both, 0, 0, 2);
  const Compiled views = compile([=](const Tensor& x) {
    copy_(first, x);
    return add(x, narrow(both, 0, 0, 2));
  });
  const Tensor rows = random({2, 6}, 2);
  EXPECT_NE(message_of([&] { views(rows); }).find("overlaps that of"), std::string::npos);
}

struct CountingModule : nn::Module {
  Tensor scale = epi::to(full({4}, 2), test_device());
  std::vector<nn::NamedParameter> parameters() override { return {{"scale", &scale}}; }
  std::vector<Tensor> forward(Inputs in, Integers at) const {
    return {mul(narrow(in[0], 0, at[0], 1), scale), add(in[0], in[1])};
  }
};

TEST_F(CompileState, ModulesTakeAndReturnSeveralTensors) {
  const CountingModule module;
  const auto forward = [=](Inputs in, Integers at) { return module.forward(in, at); };
  const Compiled compiled = compile(module);
  for (const int64_t at : {0, 2, 1}) {
    expect_same_effects(forward, compiled, {random({3, 4}, 1), random({3, 4}, 2)}, {at});
  }
  EXPECT_EQ(compiled.recompiles(), 0);
}

// Random sequences of operators, views and writes over the inputs and earlier results.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : seed_(seed) {}

  std::vector<Tensor> operator()(Inputs in, Integers at) const {
    std::mt19937 generator(seed_);
    std::vector<Tensor> values(in.begin(), in.end());
    const auto pick = [&](size_t count) { return static_cast<size_t>(generator() % count); };
    for (int step = 0; step < 10; ++step) {
      const Tensor& a = values[pick(values.size())];
      const Tensor& b = values[pick(values.size())];
      const size_t kind = pick(7);
      const bool alike = a.shape() == b.shape();
      if (kind == 0 && alike) values.push_back(add(a, b));
      if (kind == 1) values.push_back(relu(a));
      if (kind == 2) values.push_back(mul(a, 1.0));
      if (kind == 3 && a.size(0) > at[0] + 1) values.push_back(narrow(a, 0, at[0], 2));
      if (kind == 4 && a.size(0) > at[0]) copy_(select(a, 0, at[0]), neg(select(b, 0, 0)));
      if (kind == 5 && alike) copy_(a, b);
      if (kind == 6) values.push_back(clone(a));
    }
    values.erase(values.begin(), values.begin() + 2);
    if (values.empty()) values.push_back(neg(in[0]));
    return values;
  }

 private:
  uint32_t seed_;
};

TEST_F(CompileState, RandomProgramsHaveTheSameEffects) {
  const char* runs = std::getenv("EPI_PROPERTY_RUNS");
  const auto count = static_cast<uint32_t>(runs == nullptr ? 150 : std::atoi(runs));
  for (uint32_t seed = 0; seed < count; ++seed) {
    SCOPED_TRACE(seed);
    const RandomProgram program(seed);
    const Compiled compiled = compile(program);
    for (const int64_t at : {3, 2}) {
      expect_same_effects(program, compiled, {random({6, 4}, 1), random({6, 4}, 2)}, {at});
      if (HasFatalFailure()) return;
    }
    EXPECT_EQ(compiled.recompiles(), 0);
  }
}

}  // namespace
}  // namespace epi
