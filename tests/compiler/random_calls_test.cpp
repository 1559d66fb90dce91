// SPDX-License-Identifier: Apache-2.0
// Compiles random functions and calls each with many shapes and layouts of its inputs: dense,
// sliced, transposed, expanded and empty. Every call must equal eager mode. EPI_PROPERTY_RUNS sets
// the number of functions, one for four.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>

#include "epilogue/compiler/compile.h"
#include "epilogue/cpu/cpu_backend.h"
#include "epilogue/cuda/cuda_backend.h"
#include "epilogue/ops/functional.h"
#include "epilogue/tensor/factories.h"
#include "tests/ops/test_device.h"

namespace epi::compiler {
namespace {

int run_count() {
  const char* text = std::getenv("EPI_PROPERTY_RUNS");
  return (text == nullptr ? 2000 : std::atoi(text)) / 4;
}

// What an input is in terms of batch, sequence and width.
enum class Kind { kFull, kSequence, kRow, kColumn, kOneBatch, kLast };

class RandomCalls {
 public:
  explicit RandomCalls(uint64_t seed) : random_(seed), seed_(seed) {
    dtype_ = pick({DType::kF32, DType::kF32, DType::kBF16, DType::kF16});
    width_ = between(1, 24);
    const int inputs = between(1, 3);
    for (int i = 0; i < inputs; ++i) {
      kinds_.push_back(i == 0 ? Kind::kFull
                              : pick({Kind::kFull, Kind::kSequence, Kind::kRow, Kind::kColumn,
                                      Kind::kOneBatch, Kind::kLast}));
    }
    const int steps = between(1, 4);
    for (int i = 0; i < steps; ++i) choices_.push_back(between(0, 9));
    weight_ = on_test_device(
        to(mul(randn({between(1, 20), width_}, seed), 1.0 / std::sqrt(width_)), dtype_));
    ends_in_ = between(0, 4);
  }

  Tensor operator()(std::span<const Tensor> in) const {
    Tensor x = in[0];
    for (size_t i = 1; i < in.size(); ++i) {
      x = choices_[0] % 2 == 0 ? add(x, in[i]) : mul(x, in[i]);
    }
    for (const int choice : choices_) x = step(x, choice);
    switch (ends_in_) {
      case 0:
        return silu(linear(x, weight_));
      case 1:
        return softmax(x, -1);
      case 2:
        return sum(x, {-1}, true);
      case 3:
        return transpose(x, 0, 1);
      default:
        return mul(x, 0.5);
    }
  }

  std::vector<Tensor> inputs() {
    const int64_t batch = size();
    const int64_t sequence = size();
    std::vector<Tensor> in;
    for (const Kind kind : kinds_)
      in.push_back(on_test_device(strided(shape(kind, batch, sequence))));
    return in;
  }
  DType dtype() const { return dtype_; }

 private:
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[between(0, static_cast<int>(values.size()) - 1)];
  }
  int64_t size() { return between(0, 9) == 0 ? between(0, 1) : between(2, 9); }

  Dims shape(Kind kind, int64_t batch, int64_t sequence) const {
    switch (kind) {
      case Kind::kFull:
        return {batch, sequence, width_};
      case Kind::kSequence:
        return {sequence, width_};
      case Kind::kRow:
        return {width_};
      case Kind::kColumn:
        return {batch, sequence, 1};
      case Kind::kOneBatch:
        return {1, sequence, width_};
      case Kind::kLast:
        return {batch, 1, width_};
    }
    return {};
  }

  static Tensor step(const Tensor& x, int choice) {
    switch (choice) {
      case 0:
        return relu(x);
      case 1:
        return tanh(x);
      case 2:
        return add(x, x);
      case 3:
        return mul(x, 0.5);
      case 4:
        return add(x, 1.0);
      case 5:
        return reshape(reshape(x, {x.size(0) * x.size(1), x.size(2)}), x.shape());
      case 6:
        return transpose(transpose(x, 0, 1), 0, 1);
      case 7:
        return contiguous(transpose(x, 0, 1)).dim() == 3 ? sigmoid(x) : x;
      case 8:
        return neg(x);
      default:
        return x;
    }
  }

  // A tensor with random values and a random layout.
  Tensor strided(const Dims& shape) {
    const auto values = [&](const Dims& sizes) {
      return to(randn(sizes, seed_ * 131 + static_cast<uint64_t>(between(0, 1 << 20))), dtype_);
    };
    if (shape.rank() == 0) return values(shape);
    const int d = between(0, shape.rank() - 1);
    Dims larger = shape;
    switch (between(0, 5)) {
      case 0:  // a part of each row, or of the rows
        larger[d] += between(1, 5);
        return narrow(values(larger), d, between(0, static_cast<int>(larger[d] - shape[d])),
                      shape[d]);
      case 1: {  // another order
        const int other = between(0, shape.rank() - 1);
        std::swap(larger[d], larger[other]);
        return transpose(values(larger), d, other);
      }
      case 2:  // every element is the same
        larger[d] = 1;
        return expand(values(larger), shape);
      case 3:  // every second element
        larger[d] *= 2;
        return slice(values(larger), d, 0, larger[d], 2);
      default:
        return values(shape);
    }
  }

  std::mt19937_64 random_;
  uint64_t seed_;
  DType dtype_ = DType::kF32;
  int64_t width_ = 1;
  std::vector<Kind> kinds_;
  std::vector<int> choices_;
  Tensor weight_;
  int ends_in_ = 0;
};

// Eager mode rounds the result of every operator, compiled code only that of a kernel: up to ten
// roundings, of values that grow at most threefold.
void expect_near(const Tensor& got, const Tensor& want, uint64_t seed) {
  ASSERT_EQ(got.shape(), want.shape()) << "seed " << seed;
  ASSERT_EQ(got.dtype(), want.dtype()) << "seed " << seed;
  const double unit = got.dtype() == DType::kBF16  ? 0x1p-8
                      : got.dtype() == DType::kF16 ? 0x1p-11
                                                   : 0x1p-22;
  const auto wide = [](const Tensor& x) { return to(contiguous(to(x, kCpu)), DType::kF64); };
  const Tensor x = wide(got);
  const Tensor y = wide(want);
  double largest = 1;
  for (int64_t i = 0; i < y.numel(); ++i) {
    largest = std::max(largest, std::abs(y.data<double>()[i]));
  }
  for (int64_t i = 0; i < y.numel(); ++i) {
    ASSERT_NEAR(x.data<double>()[i], y.data<double>()[i], 30 * unit * largest)
        << "seed " << seed << " element " << i << " of " << to_string(y.shape());
  }
}

TEST(RandomCalls, EqualEagerMode) {
  register_cpu_backend();
  if (test_device() != kCpu) {
    if (const auto ready = register_cuda_backend(); !ready) GTEST_SKIP() << ready.error().message;
  }
  constexpr int kCalls = 5;
  const int runs = run_count();
  for (int run = 0; run < runs; ++run) {
    const auto seed = static_cast<uint64_t>(run);
    RandomCalls function(seed);
    const Compiled compiled([&](std::span<const Tensor> in) { return function(in); }, {},
                            {.max_variants = 4, .over_limit = OverLimit::kEvict});
    for (int call = 0; call < kCalls; ++call) {
      const std::vector<Tensor> in = function.inputs();
      std::string shapes;
      for (const Tensor& x : in) shapes += to_string(x.shape()) + to_string(x.strides()) + " ";
      SCOPED_TRACE(shapes);
      try {
        ASSERT_NO_FATAL_FAILURE(expect_near(compiled(in), function(in), seed));
      } catch (const Error& error) {
        FAIL() << "seed " << run << ": " << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace epi::compiler
