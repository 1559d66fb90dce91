// SPDX-License-Identifier: Apache-2.0
// Compiles random graphs of pointwise operators over random broadcasts, strides and dtypes, and
// checks them against f64 with an error bound. EPI_PROPERTY_RUNS sets the number of graphs.
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
#include "tests/compiler/float64_reference.h"
#include "tests/ops/pointwise_cases.h"
#include "tests/ops/test_device.h"

namespace epi::compiler {
namespace {

int run_count() {
  const char* text = std::getenv("EPI_PROPERTY_RUNS");
  return text == nullptr ? 2000 : std::atoi(text);
}

// A step applies a pointwise function, multiplies by a number, converts, or takes a view.
enum class StepKind { kUnary, kBinary, kNumber, kConvert, kLastColumn, kTransposed };

// `a` and `b` are the indices of the operands, `number` is the scalar.
struct RandomStep {
  StepKind kind = StepKind::kUnary;
  const UnaryCase* unary = nullptr;
  const BinaryCase* binary = nullptr;
  size_t a = 0;
  size_t b = 0;
  double number = 1;
};

// Views of results: one that broadcasts, and one that reads in another order.
Tensor last_column(const Tensor& x) { return x.dim() == 0 ? x : narrow(x, -1, x.size(-1) - 1, 1); }
Tensor transposed_if_square(const Tensor& x) {
  // Only square matrices, so the shape does not change.
  if (x.dim() < 2 || x.size(-1) != x.size(-2)) return x;
  return transpose(x, -1, -2);
}

// A random function: leaves of one dtype that broadcast to one shape, and steps over them.
class RandomFunction {
 public:
  explicit RandomFunction(uint64_t seed) : random_(seed) {
    dtype_ = pick({DType::kF32, DType::kBF16, DType::kF16});
    for (int d = 0; d < 3; ++d) shape_.push_back(number_in(1, d == 2 ? 40 : 5));
    if (number_in(0, 3) == 0) shape_[1] = shape_[2];  // for transposed_if_square()
    const int inputs = number_in(1, 2);
    for (int i = 0; i < inputs; ++i) {
      leaves_.push_back(on_test_device(strided(leaf(seed * 8 + static_cast<uint64_t>(i)))));
    }
    inputs_ = leaves_.size();
    const int constants = number_in(0, 2);
    for (int i = 0; i < constants; ++i) {
      leaves_.push_back(on_test_device(strided(leaf(seed * 8 + 4 + static_cast<uint64_t>(i)))));
    }
    const int steps = number_in(1, 9);
    for (int i = 0; i < steps; ++i) add_step();
  }

  // Constants and non-contiguous inputs fix the sizes of their operands.
  // transposed_if_square() reads sizes.
  bool has_fixed_sizes() const {
    const auto reads_sizes = [](const RandomStep& step) {
      return step.kind == StepKind::kTransposed;
    };
    const auto fixed = [](const Tensor& x) { return !x.is_contiguous(); };
    return leaves_.size() > inputs_ || std::any_of(steps_.begin(), steps_.end(), reads_sizes) ||
           std::any_of(leaves_.begin(), leaves_.end(), fixed);
  }
  std::vector<Tensor> input_tensors() const { return {leaves_.begin(), leaves_.begin() + inputs_}; }

  Tensor run(std::span<const Tensor> inputs) const {
    std::vector<Tensor> values(inputs.begin(), inputs.end());
    values.insert(values.end(), leaves_.begin() + inputs_, leaves_.end());
    for (const RandomStep& step : steps_) values.push_back(apply(step, values));
    return values.back();
  }

  // If results are broadcast or read through views, there are several kernels, and any result may
  // be stored to memory and rounded to its dtype.
  Bounded truth() const {
    bool several = false;
    const auto evaluate = [&](bool stores_all) {
      std::vector<Bounded> values;
      for (const Tensor& leaf : leaves_) values.push_back(exact(on_host(leaf)));
      for (const RandomStep& step : steps_) {
        several = several || step.kind == StepKind::kLastColumn ||
                  step.kind == StepKind::kTransposed ||
                  (step.kind == StepKind::kBinary &&
                   values[step.a].value.shape() != values[step.b].value.shape());
        const Bounded result = apply_bounded(step, values, stores_all);
        values.push_back(stores_all ? bounded_rounded(dtype_, result) : result);
      }
      return bounded_rounded(dtype_, values.back());
    };
    const Bounded fused = evaluate(false);
    return several ? evaluate(true) : fused;
  }

 private:
  int number_in(int low, int high) { return std::uniform_int_distribution(low, high)(random_); }
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[number_in(0, static_cast<int>(values.size()) - 1)];
  }

  // Some dimensions have size one, some leading dimensions are missing.
  Tensor leaf(uint64_t seed) {
    Dims shape;
    const int first = number_in(0, 2);
    for (int d = first; d < 3; ++d) shape.push_back(number_in(0, 3) == 0 ? 1 : shape_[d]);
    return randn(shape, seed, {dtype_, kCpu});
  }

  // The same values with other strides.
  Tensor strided(const Tensor& x) {
    if (x.dim() < 2 || number_in(0, 1) == 0) return x;
    if (number_in(0, 1) == 0) return transpose(contiguous(transpose(x, 0, -1)), 0, -1);
    const Tensor wide[] = {x, x};
    return narrow(cat(wide, -1), -1, number_in(0, 1) == 0 ? 0 : x.size(-1), x.size(-1));
  }

  // Chooses each function and each of the other kinds with the same probability.
  RandomStep random_kind() {
    constexpr StepKind kOthers[] = {StepKind::kNumber, StepKind::kConvert, StepKind::kLastColumn,
                                    StepKind::kTransposed};
    constexpr int kUnary = std::size(kUnaryCases);
    constexpr int kBinary = std::size(kBinaryCases);
    const int kind = number_in(0, kUnary + kBinary + static_cast<int>(std::size(kOthers)) - 1);
    if (kind < kUnary) return {.kind = StepKind::kUnary, .unary = &kUnaryCases[kind]};
    if (kind < kUnary + kBinary) {
      return {.kind = StepKind::kBinary, .binary = &kBinaryCases[kind - kUnary]};
    }
    return {.kind = kOthers[kind - kUnary - kBinary]};
  }

  void add_step() {
    const auto last = static_cast<int>(leaves_.size() + steps_.size()) - 1;
    RandomStep step = random_kind();
    // Mostly the newest value, to build long chains.
    step.a = static_cast<size_t>(number_in(0, 3) == 0 ? number_in(0, last) : last);
    step.b = static_cast<size_t>(number_in(0, last));
    step.number = pick({1.0, 1.0, 0.5, -2.0, 3.25});
    steps_.push_back(step);
  }

  Tensor apply(const RandomStep& step, const std::vector<Tensor>& values) const {
    const Tensor& a = values[step.a];
    switch (step.kind) {
      case StepKind::kUnary:
        return step.unary->run(step.unary->function == Function::kRsqrt ? positive(a) : a);
      case StepKind::kBinary:
        return step.binary->run(step.binary->function == Function::kPow ? positive(a) : a,
                                values[step.b]);
      case StepKind::kNumber:
        return mul(a, step.number);
      case StepKind::kConvert:
        return to(to(a, other_dtype()), dtype_);
      case StepKind::kLastColumn:
        return last_column(a);
      case StepKind::kTransposed:
        return transposed_if_square(a);
    }
    return a;
  }

  // rsqrt and pow take positive numbers, so that most results are not NaN.
  static Tensor positive(const Tensor& x) { return add(mul(x, x), 0.5); }
  Bounded positive(const Bounded& x, bool stores_all) const {
    const auto stored = [&](const Bounded& y) {
      return stores_all ? bounded_rounded(dtype_, y) : y;
    };
    const Bounded square = stored(bounded_mul(x, x));
    return stored(bounded_add(square, exact(full({}, 0.5, {DType::kF64, kCpu})), 1));
  }

  DType other_dtype() const { return dtype_ == DType::kF32 ? DType::kBF16 : DType::kF32; }

  Bounded apply_bounded(const RandomStep& step, const std::vector<Bounded>& values,
                        bool stores_all) const {
    const Bounded& a = values[step.a];
    switch (step.kind) {
      case StepKind::kUnary:
        if (step.unary->function == Function::kRsqrt) return bounded_rsqrt(positive(a, stores_all));
        return bounded_unary(*step.unary, a);
      case StepKind::kBinary:
        if (step.binary->function == Function::kPow) {
          return bounded_pow(positive(a, stores_all), values[step.b]);
        }
        return bounded_binary(*step.binary, a, values[step.b]);
      case StepKind::kNumber:
        return bounded_mul(a, exact(full({}, step.number, {DType::kF64, kCpu})));
      case StepKind::kConvert: {
        // The conversion is explicit, so it must happen: down to bf16 and back.
        const Bounded once = bounded_rounded(other_dtype(), a);
        return bounded_rounded(dtype_, once);
      }
      case StepKind::kLastColumn:
        return {contiguous(last_column(a.value)), contiguous(last_column(a.error))};
      case StepKind::kTransposed:
        return {contiguous(transposed_if_square(a.value)),
                contiguous(transposed_if_square(a.error))};
    }
    return a;
  }

  static Bounded bounded_unary(const UnaryCase& op, const Bounded& a) {
    if (op.function == Function::kNeg) return bounded_neg(a);
    if (std::isinf(op.slope)) return bounded_exp(a);
    // Polynomials and special functions are accurate to 3 ulp. Exact functions add no error.
    return bounded_smooth(op.run, op.slope, op.op_class == OpClass::kExact ? 0 : 3, a);
  }

  static Bounded bounded_binary(const BinaryCase& op, const Bounded& a, const Bounded& b) {
    switch (op.function) {
      case Function::kMul:
        return bounded_mul(a, b);
      case Function::kDiv:
        return bounded_div(a, b);
      default:  // add and sub: op(0, 1) is their factor for b
        return bounded_add(a, b, op.reference(ref::scalar(0), ref::scalar(1)).values[0]);
    }
  }

  std::mt19937_64 random_;
  DType dtype_ = DType::kF32;
  Dims shape_;
  std::vector<Tensor> leaves_;
  size_t inputs_ = 0;
  std::vector<RandomStep> steps_;
};

TEST(PointwiseProperty, RandomGraphsStayWithinErrorBounds) {
  register_cpu_backend();
  if (test_device() != kCpu) {
    if (const auto ready = register_cuda_backend(); !ready) GTEST_SKIP() << ready.error().message;
  }
  int64_t tested = 0;
  int64_t elements = 0;
  for (int run = 0; run < run_count(); ++run) {
    const RandomFunction random(static_cast<uint64_t>(run));
    const Fuse fuse = run % 8 == 0   ? Fuse::kNone
                      : run % 2 == 0 ? Fuse::kEpilogue
                                     : Fuse::kPointwise;
    const Compiled compiled([&](std::span<const Tensor> inputs) { return random.run(inputs); }, {},
                            {.fuse = fuse, .dynamic = !random.has_fixed_sizes()});
    const Tensor result = on_host(compiled(random.input_tensors()));
    // Without fusion every operator rounds to the dtype. The bound assumes f32 between operators.
    if (fuse == Fuse::kNone && result.dtype() != DType::kF32) continue;
    const Verdict verdict = check_against(result, random.truth());
    ASSERT_EQ(verdict.outside, 0) << "run " << run << ", worst " << verdict.worst << "\n"
                                  << compiled.variants()[0].stages.back();
    tested += verdict.tested;
    elements += result.numel();
  }
  // Quotients near zero and large exponentials have no meaningful
  // bound. Most elements must have one.
  EXPECT_GT(tested, elements * 7 / 10);
}

}  // namespace
}  // namespace epi::compiler
