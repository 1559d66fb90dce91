// SPDX-License-Identifier: Apache-2.0
// Pointwise loops, written once around the functions of pointwise/functions.h for the compiler to
// vectorize: over one input, over two inputs, and over two inputs of which one is a number.
#include <limits>
#include <type_traits>
#include <utility>

#include "epilogue/cpu/loops/access.h"
#include "epilogue/cpu/loops/tables.h"

namespace epi::cpu::EPI_ISA {
namespace {

// A functor per function: "Gelu" for gelu.
#define EPI_POINTWISE(Name, function, ...)      \
  struct Name {                                 \
    template <typename... V>                    \
    EPI_INLINE static auto apply(V... values) { \
      return function(values...);               \
    }                                           \
  };
#define EPI_POINTWISE_VARIANT EPI_POINTWISE
#include "epilogue/pointwise/operators.def"

// The number type in which functions compute a T.
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

// A scalar as a number, clamped to the range of an integer type.
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

// Strided elements go through buffers of this many elements, so that each function is compiled and
// vectorized only for contiguous elements.
constexpr int64_t kBlock = 256;

template <typename T>
EPI_INLINE const T* contiguous(const T* elements, int64_t stride, int64_t count, T* buffer) {
  if (stride == 1) return elements;
  for (int64_t i = 0; i < count; ++i) buffer[i] = elements[i * stride];
  return buffer;
}

template <typename T, typename F>
EPI_INLINE void for_each(const T* __restrict x, T* __restrict out, int64_t count, F f) {
  for (int64_t i = 0; i < count; ++i) store_number(out[i], f(load_number(x[i])));
}
template <typename T, typename F>
EPI_INLINE void for_each_pair(const T* __restrict x, const T* __restrict y, T* __restrict out,
                              int64_t count, F f) {
  for (int64_t i = 0; i < count; ++i) {
    store_number(out[i], f(load_number(x[i]), load_number(y[i])));
  }
}

// Whether the function with this number as second operand is x * x.
template <typename F, typename C>
EPI_INLINE bool is_square(C number) {
  if constexpr (std::is_same_v<F, Pow>) {
    return number == C(2);
  } else {
    return false;
  }
}

// With its scalars bound, the function takes one or two elements. One of two may be constant: then
// its stride is 0, or `b` is null and the constant is `numbers.other`.
template <typename F, int kInputs, typename T, size_t... kScalars>
EPI_INLINE void run(const T* a, int64_t a_stride, const T* b, int64_t b_stride, T* out,
                    int64_t out_stride, int64_t count, const PointwiseScalars& numbers,
                    std::index_sequence<kScalars...> /*scalars*/) {
  using C = Number<T>;
  const C scalars[] = {to_number_of<T>(numbers.scalars[kScalars])..., C(0)};
  const bool b_is_number = kInputs == 1 || b == nullptr || b_stride == 0;
  const bool a_is_number = !b_is_number && a_stride == 0;
  const bool all_contiguous =
      out_stride == 1 && (a_stride == 1 || a_is_number) && (b_stride == 1 || b_is_number);
  const int64_t step = all_contiguous ? count : kBlock;
  T buffers[kInputs + 1][kBlock];
  for (int64_t from = 0; from < count; from += step) {
    const int64_t length = step < count - from ? step : count - from;
    T* to = out_stride == 1 ? out + from : buffers[kInputs];
    if constexpr (kInputs == 1) {
      const T* x = contiguous(a + from * a_stride, a_stride, length, buffers[0]);
      for_each(x, to, length, [=](C value) { return F::apply(value, scalars[kScalars]...); });
    } else if (b_is_number) {
      const C y = b == nullptr ? to_number_of<T>(numbers.other) : load_number(b[0]);
      const T* x = contiguous(a + from * a_stride, a_stride, length, buffers[0]);
      if (is_square<F>(y)) {
        for_each(x, to, length, [](C value) { return value * value; });
      } else {
        for_each(x, to, length, [=](C value) { return F::apply(value, y, scalars[kScalars]...); });
      }
    } else if (a_is_number) {
      const C x = load_number(a[0]);
      const T* y = contiguous(b + from * b_stride, b_stride, length, buffers[1]);
      for_each(y, to, length, [=](C value) { return F::apply(x, value, scalars[kScalars]...); });
    } else {
      const T* x = contiguous(a + from * a_stride, a_stride, length, buffers[0]);
      const T* y = contiguous(b + from * b_stride, b_stride, length, buffers[1]);
      for_each_pair(x, y, to, length,
                    [=](C left, C right) { return F::apply(left, right, scalars[kScalars]...); });
    }
    if (out_stride == 1) continue;
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Assign): filled by one of the loops above
    for (int64_t i = 0; i < length; ++i) out[(from + i) * out_stride] = to[i];
  }
}

template <typename Name, pointwise::Function kFunction, typename T>
void pointwise_loop(const void* a, int64_t a_stride, const void* b, int64_t b_stride, void* out,
                    int64_t out_stride, int64_t count, const PointwiseScalars& numbers) {
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
