// SPDX-License-Identifier: Apache-2.0
// The functions of pointwise/functions.h as kernels for one element type. Each pointwise_<dtype>.cu
// compiles all of them for its type. Names in traces are "Gelu<float>", or "AddScalar<float>" if
// the second operand is a scalar.
#pragma once

#include <utility>

#include "epilogue/cuda/approximate.cuh"
#include "epilogue/cuda/launchers.h"
#include "epilogue/cuda/pointwise.cuh"
#include "epilogue/cuda/primitives.cuh"

namespace epi::cuda {

namespace table = epi::pointwise;

// The number type with which a function computes a T.
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
__device__ __forceinline__ T as_element(Number<T> value) {
  if constexpr (std::is_integral_v<T>) {
    return value.value;
  } else {
    return rounded<T>(value);
  }
}

template <table::Function kFunction>
inline constexpr size_t kScalarCount = table::info(kFunction).scalar_count;
template <table::Function kFunction>
using ScalarsOf = std::make_index_sequence<kScalarCount<kFunction>>;

// Calls `F::apply` with the elements, then the scalars. `scalars` has one unused element, because
// an array cannot be empty.
template <typename F, table::Function kFunction, typename T, typename Scalars>
struct Applied;
template <typename F, table::Function kFunction, typename T, size_t... kScalars>
struct Applied<F, kFunction, T, std::index_sequence<kScalars...>> {
  static constexpr int kInputs = table::info(kFunction).inputs;
  using In = T;
  using Out = T;
  Compute<T> scalars[sizeof...(kScalars) + 1];

  template <typename... C>
  __device__ __forceinline__ T operator()(C... elements) const {
    return as_element<T>(F::apply(Number<T>(elements)..., Number<T>(scalars[kScalars])...));
  }
};

// Calls `F::apply` with one element and the scalar `other` as second operand, then the scalars.
template <typename F, table::Function kFunction, typename T, typename Scalars>
struct AppliedToScalar;
template <typename F, table::Function kFunction, typename T, size_t... kScalars>
struct AppliedToScalar<F, kFunction, T, std::index_sequence<kScalars...>> {
  static constexpr int kInputs = 1;
  using In = T;
  using Out = T;
  Compute<T> scalars[sizeof...(kScalars) + 1];
  Compute<T> other;

  __device__ __forceinline__ T operator()(Compute<T> a) const {
    return as_element<T>(F::apply(Number<T>(a), Number<T>(other), Number<T>(scalars[kScalars])...));
  }
};

#define EPI_POINTWISE(Name, function, ...)                                           \
  struct Name##Function {                                                            \
    template <typename... V>                                                         \
    static __device__ __forceinline__ auto apply(V... values) {                      \
      return function(values...);                                                    \
    }                                                                                \
  };                                                                                 \
  template <typename T>                                                              \
  struct Name : Applied<Name##Function, table::Function::k##Name, T,                 \
                        ScalarsOf<table::Function::k##Name>> {};                     \
  template <typename T>                                                              \
  struct Name##Scalar : AppliedToScalar<Name##Function, table::Function::k##Name, T, \
                                        ScalarsOf<table::Function::k##Name>> {};
#define EPI_POINTWISE_VARIANT EPI_POINTWISE
#include "epilogue/pointwise/operators.def"

// Specialization of gelu_tanh for 16-bit types. tests/ops/pointwise_sweep_test.cpp compares all
// values with the reference.
template <typename T>
struct GeluTanhOfHalf {
  static constexpr int kInputs = 1;
  using In = T;
  using Out = T;
  __device__ __forceinline__ T operator()(float x) const {
    return rounded<T>(gelu_tanh(Approximate(x)).value);
  }
};
template <>
struct GeluTanh<bf16> : GeluTanhOfHalf<bf16> {};
template <>
struct GeluTanh<f16> : GeluTanhOfHalf<f16> {};

// Converts a number to the compute type. Numbers outside an integer's range are clamped.
template <typename C>
C to_compute(double number) {
  if constexpr (std::is_integral_v<C>) {
    const double above = -static_cast<double>(Limits<C>::kMin);
    if (number >= above) return Limits<C>::kMax;
    if (number < -above) return Limits<C>::kMin;
  }
  return static_cast<C>(number);
}

template <table::Function kFunction, typename F>
void launch_with_scalars(F f, const StridedShape& shape, const PointwiseScalars& numbers,
                         cudaStream_t stream) {
  if constexpr (kScalarCount<kFunction> > 0) {
    for (size_t i = 0; i < kScalarCount<kFunction>; ++i) {
      f.scalars[i] = to_compute<Compute<typename F::In>>(numbers.scalars[i]);
    }
  }
  launch_pointwise(shape, f, stream);
}

template <table::Function kFunction, typename F, typename G>
void launch_function(const StridedShape& shape, const PointwiseScalars& numbers,
                     cudaStream_t stream) {
  using T = typename F::In;
  constexpr bool kTakesType = kIsReal<T> || table::info(kFunction).types == table::Types::kNumbers;
  if constexpr (kTakesType) {
    if constexpr (table::info(kFunction).inputs == 2) {
      if (shape.operands == 2) {  // the output and one input
        G g{};
        g.other = to_compute<Compute<T>>(numbers.other);
        return launch_with_scalars<kFunction>(g, shape, numbers, stream);
      }
    }
    launch_with_scalars<kFunction>(F{}, shape, numbers, stream);
  }
}

template <typename T>
void launch_for_type(table::Function function, const StridedShape& shape,
                     const PointwiseScalars& numbers, cudaStream_t stream) {
  switch (function) {
#define EPI_POINTWISE(Name, ...)                                                               \
  case table::Function::k##Name:                                                               \
    return launch_function<table::Function::k##Name, Name<T>, Name##Scalar<T>>(shape, numbers, \
                                                                               stream);
#define EPI_POINTWISE_VARIANT EPI_POINTWISE
#include "epilogue/pointwise/operators.def"
    case table::Function::kEnd:
      return;
  }
}

}  // namespace epi::cuda
