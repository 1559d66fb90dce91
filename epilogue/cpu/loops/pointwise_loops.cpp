// SPDX-License-Identifier: Apache-2.0
// Pointwise loops, written once around the functions of pointwise/functions.h: contiguous (which
// the compiler vectorises), one side a number, and strided.
#include <limits>
#include <utility>

#include "epilogue/cpu/loops/access.h"
#include "epilogue/cpu/loops/tables.h"

namespace epi::cpu::EPI_ISA {
namespace {

// A functor for each function, "Gelu" for gelu.
#define EPI_POINTWISE(Name, function, ...)      \
  struct Name {                                 \
    template <typename... V>                    \
    EPI_INLINE static auto apply(V... values) { \
      return function(values...);               \
    }                                           \
  };
#define EPI_POINTWISE_VARIANT EPI_POINTWISE
#include "epilogue/pointwise/operators.def"

// What a function computes a T in.
template <typename T>
struct NumberOf {
  using type = Compute<T>;
};
template <>
struct NumberOf<int32_t> {
  using type = WrappingInt<int32_t, uint32_t>;
};
template <>
struct NumberOf<int64_t> {
  using type = WrappingInt<int64_t, uint64_t>;
};
template <typename T>
using Number = typename NumberOf<T>::type;

template <typename T>
EPI_INLINE Number<T> load_number(const T& element) {
  return load(element);
}
template <typename T>
EPI_INLINE void store_number(T& element, Number<T> number) {
  if constexpr (std::is_integral_v<T>) {
    element = number.value;
  } else {
    store(element, number);
  }
}

// A scalar as a number: an integer's bounds where it lies beyond them.
template <typename T>
EPI_INLINE Number<T> to_number_of(double number) {
  if constexpr (!std::is_integral_v<T>) {
    return static_cast<Number<T>>(number);
  } else {
    constexpr auto kAbove = -static_cast<double>(std::numeric_limits<T>::min());
    if (number >= kAbove) return std::numeric_limits<T>::max();
    if (number < -kAbove) return std::numeric_limits<T>::min();
    return static_cast<T>(number);
  }
}

template <typename T, typename F>
EPI_INLINE void for_each(const T* __restrict x, int64_t x_stride, T* __restrict out,
                         int64_t out_stride, int64_t count, F f) {
  if (x_stride == 1 && out_stride == 1) {
    for (int64_t i = 0; i < count; ++i) store_number(out[i], f(load_number(x[i])));
  } else {
    for (int64_t i = 0; i < count; ++i)
      store_number(out[i * out_stride], f(load_number(x[i * x_stride])));
  }
}

template <typename T, typename F>
EPI_INLINE void for_each_pair(const T* __restrict a, int64_t a_stride, const T* __restrict b,
                              int64_t b_stride, T* __restrict out, int64_t out_stride,
                              int64_t count, F f) {
  using C = Number<T>;
  if (b_stride == 0) {
    const C value = load_number(b[0]);
    for_each(a, a_stride, out, out_stride, count, [=](C x) { return f(x, value); });
  } else if (a_stride == 0) {
    const C value = load_number(a[0]);
    for_each(b, b_stride, out, out_stride, count, [=](C x) { return f(value, x); });
  } else if (a_stride == 1 && b_stride == 1 && out_stride == 1) {
    for (int64_t i = 0; i < count; ++i)
      store_number(out[i], f(load_number(a[i]), load_number(b[i])));
  } else {
    for (int64_t i = 0; i < count; ++i) {
      store_number(out[i * out_stride],
                   f(load_number(a[i * a_stride]), load_number(b[i * b_stride])));
    }
  }
}

// The function with its scalars filled in is one of one element, or of two.
template <typename F, int kInputs, typename T, size_t... kScalars>
EPI_INLINE void run(const T* a, int64_t a_stride, const T* b, int64_t b_stride, T* out,
                    int64_t out_stride, int64_t count, const PointwiseNumbers& numbers,
                    std::index_sequence<kScalars...> /*scalars*/) {
  using C = Number<T>;
  const C scalars[] = {to_number_of<T>(numbers.scalars[kScalars])..., C(0)};
  if constexpr (kInputs == 1) {
    for_each(a, a_stride, out, out_stride, count,
             [=](C x) { return F::apply(x, scalars[kScalars]...); });
  } else if (b == nullptr) {
    const C other = to_number_of<T>(numbers.other);
    for_each(a, a_stride, out, out_stride, count,
             [=](C x) { return F::apply(x, other, scalars[kScalars]...); });
  } else {
    for_each_pair(a, a_stride, b, b_stride, out, out_stride, count,
                  [=](C x, C y) { return F::apply(x, y, scalars[kScalars]...); });
  }
}

template <typename Name, pointwise::Function kFunction, typename T>
void pointwise_loop(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* out,
                    int64_t out_stride, int64_t count, const PointwiseNumbers& numbers) {
  constexpr int kInputs = pointwise::info(kFunction).inputs;
  constexpr size_t kScalars = pointwise::info(kFunction).scalar_count;
  run<Name, kInputs>(static_cast<const T*>(a), a_stride, static_cast<const T*>(b), b_stride,
                     static_cast<T*>(out), out_stride, count, numbers,
                     std::make_index_sequence<kScalars>());
}

template <typename Name, pointwise::Function kFunction>
void fill_function(Loops& table) {
  PointwiseLoop* row = table.pointwise[static_cast<size_t>(kFunction)];
  row[static_cast<int>(DType::kF64)] = pointwise_loop<Name, kFunction, double>;
  row[static_cast<int>(DType::kF32)] = pointwise_loop<Name, kFunction, float>;
  row[static_cast<int>(DType::kBF16)] = pointwise_loop<Name, kFunction, BFloat16>;
  row[static_cast<int>(DType::kF16)] = pointwise_loop<Name, kFunction, Half>;
  if constexpr (pointwise::info(kFunction).types == pointwise::Types::kNumbers) {
    row[static_cast<int>(DType::kI64)] = pointwise_loop<Name, kFunction, int64_t>;
    row[static_cast<int>(DType::kI32)] = pointwise_loop<Name, kFunction, int32_t>;
  }
}

}  // namespace

void fill_pointwise(Loops& table) {
#define EPI_POINTWISE(Name, ...) fill_function<Name, pointwise::Function::k##Name>(table);
#define EPI_POINTWISE_VARIANT EPI_POINTWISE
#include "epilogue/pointwise/operators.def"
}

}  // namespace epi::cpu::EPI_ISA
