// SPDX-License-Identifier: Apache-2.0
// The primitives of pointwise/functions.h for IrNumber, and the functions built on them.
#include "epilogue/compiler/codegen/ir_number.h"

#include <bit>
#include <cmath>
#include <type_traits>

#include "epilogue/base/error.h"

namespace epi::compiler {
namespace {

// The code of the first operand that is not a constant.
template <typename First, typename... Rest>
VectorCode& code_of(const First& first, const Rest&... rest) {
  if constexpr (sizeof...(rest) > 0) {
    if (first.is_constant()) return code_of(rest...);
  }
  EPI_CHECK(!first.is_constant());
  return *first.code();
}

template <typename T>
IrReal<T> binary(std::string_view instruction, const IrReal<T>& a, const IrReal<T>& b) {
  VectorCode& code = code_of(a, b);
  return {code, code.binary(instruction, a.text(code), b.text(code))};
}

template <typename T>
IrReal<T> operator+(const IrReal<T>& a, const IrReal<T>& b) {
  if (a.is_constant() && b.is_constant()) return a.constant() + b.constant();
  return binary("fadd", a, b);
}
template <typename T>
IrReal<T> operator-(const IrReal<T>& a, const IrReal<T>& b) {
  if (a.is_constant() && b.is_constant()) return a.constant() - b.constant();
  return binary("fsub", a, b);
}
template <typename T>
IrReal<T> operator*(const IrReal<T>& a, const IrReal<T>& b) {
  if (a.is_constant() && b.is_constant()) return a.constant() * b.constant();
  return binary("fmul", a, b);
}
template <typename T>
IrReal<T> operator/(const IrReal<T>& a, const IrReal<T>& b) {
  if (a.is_constant() && b.is_constant()) return a.constant() / b.constant();
  return binary("fdiv", a, b);
}
template <typename T>
IrReal<T> operator-(const IrReal<T>& x) {
  if (x.is_constant()) return -x.constant();
  return {*x.code(), x.code()->neg(x.text(*x.code()))};
}
template <typename T>
IrMask operator<(const IrReal<T>& a, const IrReal<T>& b) {
  if (a.is_constant() && b.is_constant()) return a.constant() < b.constant();
  VectorCode& code = code_of(a, b);
  return {code, code.compare("olt", a.text(code), b.text(code))};
}

template <typename T>
IrReal<T> select(const IrMask& mask, const IrReal<T>& a, const IrReal<T>& b) {
  if (mask.is_constant()) return mask.constant() ? a : b;
  VectorCode& code = mask.code();
  return {code, code.select(mask.value(), a.text(code), b.text(code))};
}

// A factor of 1 or -1 becomes a plain addition or subtraction, as in add and sub without alpha.
template <typename T>
IrReal<T> fma(const IrReal<T>& a, const IrReal<T>& b, const IrReal<T>& c) {
  if (a.is(1)) return c + b;
  if (a.is(-1)) return c - b;
  if (a.is_constant() && b.is_constant()) return a * b + c;
  VectorCode& code = code_of(a, b, c);
  return {code, code.multiply_add(a.text(code), b.text(code), c.text(code))};
}

template <typename T>
IrReal<T> intrinsic(const char* name, const IrReal<T>& x) {
  VectorCode& code = code_of(x);
  return {code, code.intrinsic(name, {x.text(code)})};
}
template <typename T>
IrReal<T> abs(const IrReal<T>& x) {
  return x.is_constant() ? IrReal<T>(std::abs(x.constant())) : intrinsic("fabs", x);
}
IrNumber sqrt(const IrNumber& x) { return intrinsic("sqrt", x); }
template <typename T>
IrReal<T> copysign(const IrReal<T>& x, const IrReal<T>& sign) {
  VectorCode& code = code_of(x, sign);
  return {code, code.intrinsic("copysign", {x.text(code), sign.text(code)})};
}

template <typename T>
IrMask is_nan(const IrReal<T>& x) {
  if (x.is_constant()) return std::isnan(x.constant());
  VectorCode& code = code_of(x);
  return {code, code.compare("uno", x.text(code), x.text(code))};
}

// Uses comparisons: on some targets LLVM 19 turns the NaN-propagating intrinsics into library
// calls.
IrNumber min(const IrNumber& a, const IrNumber& b) {
  const IrNumber smaller = select(b < a, b, a);  // a if either is NaN
  return select(is_nan(b), b, smaller);
}
IrNumber max(const IrNumber& a, const IrNumber& b) {
  const IrNumber larger = select(a < b, b, a);
  return select(is_nan(b), b, larger);
}

// --- Additional primitives for polynomials.h. ----------------------------------------------------

template <typename>
using Bits = IrBits;

IrBits integers(std::string_view instruction, const IrBits& a, const IrBits& b) {
  VectorCode& code = code_of(a, b);
  return {code, code.integers(instruction, a.text(code), b.text(code))};
}
IrBits operator+(const IrBits& a, const IrBits& b) { return integers("add", a, b); }
IrBits operator-(const IrBits& a, const IrBits& b) { return integers("sub", a, b); }
IrBits shift_left(const IrBits& bits, int count) { return integers("shl", bits, count); }
IrBits shift_right(const IrBits& bits, int count) { return integers("ashr", bits, count); }

template <typename T>
IrBits to_bits(const IrReal<T>& x) {
  using Integer = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  if (x.is_constant()) return std::bit_cast<Integer>(x.constant());
  return {*x.code(), x.code()->as_bits(x.text(*x.code()))};
}
template <typename V>
V from_bits(const IrBits& bits) {
  VectorCode& code = code_of(bits);
  return {code, code.as_float(bits.text(code))};
}
template <typename V>
V to_number(const IrBits& bits) {
  VectorCode& code = code_of(bits);
  return {code, code.signed_to_float(bits.text(code))};
}

template <typename>
using Wide = IrDouble;

IrDouble widened(const IrNumber& x) {
  if (x.is_constant()) return x.constant();
  return {x.code()->wide(), x.code()->extended(x.text(*x.code()))};
}
template <typename V>
V narrowed(const IrDouble& x) {
  if (x.is_constant()) return x.constant();
  VectorCode& code = x.code()->narrow();
  return {code, code.truncated(x.text(*x.code()))};
}

#define EPI_FN inline
// clang-format off: each include uses the ones before it
#include "epilogue/pointwise/polynomials.h"
IrNumber pow(const IrNumber& x, const IrNumber& y) { return y.is(2) ? x * x : power(x, y); }
#include "epilogue/pointwise/functions.h"
// clang-format on
template <>
struct Constants<IrDouble> : Constants<double> {};

// Calls `apply` with the number of terms that the function takes.
template <pointwise::Function kFunction, typename Apply>
IrNumber call(const Apply& apply, std::span<const IrNumber> terms) {
  constexpr auto kTerms = static_cast<size_t>(pointwise::info(kFunction).inputs) +
                          pointwise::info(kFunction).scalar_count;
  EPI_CHECK(terms.size() == kTerms);
  return [&]<size_t... kTerm>(std::index_sequence<kTerm...>) {
    return apply(terms[kTerm]...);
  }(std::make_index_sequence<kTerms>());
}

}  // namespace

IrNumber emit_function(pointwise::Function function, std::span<const IrNumber> terms) {
  switch (function) {
#define EPI_POINTWISE(Name, function, ...)     \
  case pointwise::Function::k##Name:           \
    return call<pointwise::Function::k##Name>( \
        [](const auto&... values) { return function(values...); }, terms);
#define EPI_POINTWISE_VARIANT EPI_POINTWISE
#include "epilogue/pointwise/operators.def"
    case pointwise::Function::kEnd:
      break;
  }
  throw BugError("not a pointwise function");
}

}  // namespace epi::compiler
