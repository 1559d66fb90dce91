// SPDX-License-Identifier: Apache-2.0
// Pointwise loops. Each op is a function of the computed type; the loops around it are written
// once: contiguous (which the compiler vectorises), one side a scalar, and strided.
#include "epilogue/cpu/loops/access.h"
#include "epilogue/cpu/loops/tables.h"

namespace epi::cpu::EPI_ISA {
namespace {

struct ExpOp {
  template <typename T>
  EPI_INLINE static T apply(T x) {
    return exp(x);
  }
};
struct TanhOp {
  template <typename T>
  EPI_INLINE static T apply(T x) {
    return tanh(x);
  }
};
struct SigmoidOp {
  template <typename T>
  EPI_INLINE static T apply(T x) {
    return sigmoid(x);
  }
};
struct SiluOp {
  template <typename T>
  EPI_INLINE static T apply(T x) {
    return x / (T(1) + exp(-x));
  }
};
struct GeluOp {
  template <typename T>
  EPI_INLINE static T apply(T x) {
    return x * normal_cdf(x);
  }
};
// x (1 + tanh(u)) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3) is x sigmoid(2u): one exp, and no
// cancellation where tanh(u) is near -1.
struct GeluTanhOp {
  template <typename T>
  EPI_INLINE static T apply(T x) {
    const T two_u = T(1.5957691216057308) * (x + T(0.044715) * (x * x * x));
    return x / (T(1) + exp(-two_u));
  }
};
struct NegOp {
  template <typename T>
  EPI_INLINE static T apply(T x) {
    // Unsigned, because the negative of the smallest integer is itself.
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(x));
    else
      return -x;
  }
};
struct ReluOp {
  template <typename T>
  EPI_INLINE static T apply(T x) {
    return x < T(0) ? T(0) : x;
  }  // NaN stays
};

template <typename Op, typename T>
void unary(const void* x_data, int64_t x_stride, void* out_data, int64_t out_stride,
           int64_t count) {
  const T* __restrict x = static_cast<const T*>(x_data);
  T* __restrict out = static_cast<T*>(out_data);
  if (x_stride == 1 && out_stride == 1) {
    for (int64_t i = 0; i < count; ++i) store(out[i], Op::apply(load(x[i])));
  } else {
    for (int64_t i = 0; i < count; ++i) {
      store(out[i * out_stride], Op::apply(load(x[i * x_stride])));
    }
  }
}

// Signed overflow wraps, as in ATen.
template <typename T>
using Wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                             std::type_identity<T>>::type;

struct AddOp {
  template <typename T>
  EPI_INLINE static T apply(T a, T b, T alpha) {
    using W = Wrapping<T>;
    return static_cast<T>(W(a) + W(alpha) * W(b));
  }
};
struct SubOp {
  template <typename T>
  EPI_INLINE static T apply(T a, T b, T alpha) {
    using W = Wrapping<T>;
    return static_cast<T>(W(a) - W(alpha) * W(b));
  }
};
struct MulOp {
  template <typename T>
  EPI_INLINE static T apply(T a, T b, T /*alpha*/) {
    using W = Wrapping<T>;
    return static_cast<T>(W(a) * W(b));
  }
};
struct DivOp {
  template <typename T>
  EPI_INLINE static T apply(T a, T b, T /*alpha*/) {
    return a / b;
  }
};

// One side is the same for all elements: `f` of each element of the other.
template <typename T, typename F>
EPI_INLINE void with_scalar(const T* __restrict x, int64_t x_stride, T* __restrict out,
                            int64_t out_stride, int64_t count, F f) {
  if (x_stride == 1 && out_stride == 1) {
    for (int64_t i = 0; i < count; ++i) store(out[i], f(load(x[i])));
  } else {
    for (int64_t i = 0; i < count; ++i) store(out[i * out_stride], f(load(x[i * x_stride])));
  }
}

template <typename Op, typename T>
void binary(const void* a_data, int64_t a_stride, const void* b_data, int64_t b_stride,
            void* out_data, int64_t out_stride, int64_t count, BinaryScalars scalars) {
  using C = Compute<T>;
  const T* __restrict a = static_cast<const T*>(a_data);
  const T* __restrict b = static_cast<const T*>(b_data);
  T* __restrict out = static_cast<T*>(out_data);
  const C alpha = static_cast<C>(scalars.alpha);
  if (b == nullptr || b_stride == 0) {
    const C value = b == nullptr ? static_cast<C>(scalars.other) : load(b[0]);
    with_scalar(a, a_stride, out, out_stride, count,
                [=](C x) { return Op::apply(x, value, alpha); });
  } else if (a_stride == 0) {
    const C value = load(a[0]);
    with_scalar(b, b_stride, out, out_stride, count,
                [=](C x) { return Op::apply(value, x, alpha); });
  } else if (a_stride == 1 && b_stride == 1 && out_stride == 1) {
    for (int64_t i = 0; i < count; ++i) store(out[i], Op::apply(load(a[i]), load(b[i]), alpha));
  } else {
    for (int64_t i = 0; i < count; ++i) {
      store(out[i * out_stride], Op::apply(load(a[i * a_stride]), load(b[i * b_stride]), alpha));
    }
  }
}

template <typename Op>
void fill_unary(UnaryLoop* row) {
  row[static_cast<int>(DType::kF64)] = unary<Op, double>;
  row[static_cast<int>(DType::kF32)] = unary<Op, float>;
  row[static_cast<int>(DType::kBF16)] = unary<Op, BFloat16>;
  row[static_cast<int>(DType::kF16)] = unary<Op, Half>;
  if constexpr (std::is_same_v<Op, NegOp> || std::is_same_v<Op, ReluOp>) {
    row[static_cast<int>(DType::kI64)] = unary<Op, int64_t>;
    row[static_cast<int>(DType::kI32)] = unary<Op, int32_t>;
  }
}

template <typename Op>
void fill_binary(BinaryLoop* row) {
  row[static_cast<int>(DType::kF64)] = binary<Op, double>;
  row[static_cast<int>(DType::kF32)] = binary<Op, float>;
  row[static_cast<int>(DType::kBF16)] = binary<Op, BFloat16>;
  row[static_cast<int>(DType::kF16)] = binary<Op, Half>;
  if constexpr (!std::is_same_v<Op, DivOp>) {
    row[static_cast<int>(DType::kI64)] = binary<Op, int64_t>;
    row[static_cast<int>(DType::kI32)] = binary<Op, int32_t>;
  }
}

}  // namespace

void fill_pointwise(Loops& table) {
  const auto unary_row = [&](Unary op) { return table.unary[static_cast<int>(op)]; };
  fill_unary<ExpOp>(unary_row(Unary::kExp));
  fill_unary<GeluOp>(unary_row(Unary::kGelu));
  fill_unary<GeluTanhOp>(unary_row(Unary::kGeluTanh));
  fill_unary<NegOp>(unary_row(Unary::kNeg));
  fill_unary<ReluOp>(unary_row(Unary::kRelu));
  fill_unary<SigmoidOp>(unary_row(Unary::kSigmoid));
  fill_unary<SiluOp>(unary_row(Unary::kSilu));
  fill_unary<TanhOp>(unary_row(Unary::kTanh));
  const auto binary_row = [&](Binary op) { return table.binary[static_cast<int>(op)]; };
  fill_binary<AddOp>(binary_row(Binary::kAdd));
  fill_binary<SubOp>(binary_row(Binary::kSub));
  fill_binary<MulOp>(binary_row(Binary::kMul));
  fill_binary<DivOp>(binary_row(Binary::kDiv));
}

}  // namespace epi::cpu::EPI_ISA
