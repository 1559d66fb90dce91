// SPDX-License-Identifier: Apache-2.0
// exp, tanh, erf and what is made of them: the polynomials of cpu/loops/math.h, where their errors
// are stated.
#include <array>

#include "epilogue/compiler/codegen/vector_code.h"

namespace epi::compiler {
namespace {

constexpr double kShift = 0x1.8p23;  // adding it rounds to an integer, in the low bits
constexpr double kLn2High = 0x1.62E4p-1;
constexpr double kLn2Low = 1.428606820e-06;
// expm1(r) / r for |r| <= ln(2) / 2.
constexpr std::array<double, 7> kExpTerms = {
    0.0001990044147, 0.001394215983, 0.008333297067, 0.04166634014, 0.1666666672, 0.500000005, 1.0};
// erfc(z) exp(z^2) / t for z >= 0, with t = 1 / (1 + z / 2).
constexpr std::array<double, 11> kErfcTerms = {
    0.03239865218, -0.1716289015, 0.332568661,  -0.2189932848, -0.08664944204, 0.07456794739,
    0.03905751788, 0.1897954688,  0.2444791095, 0.2823184277,  0.2820858459};

}  // namespace

// NaN stays NaN: the comparisons are false for it.
IrValue VectorCode::clamp(const IrValue& x, double low, double high) {
  const IrValue raised = select_less(x, number(low), number(low), x);
  return select_less(number(high), raised, number(high), raised);
}

IrValue VectorCode::polynomial(std::span<const double> terms, const IrValue& x) {
  IrValue sum = number(terms[0]);
  for (const double term : terms.subspan(1)) sum = multiply_add(sum, x, number(term));
  return sum;
}

IrValue VectorCode::magnitude(const IrValue& x) {
  return out_.let("call {0} @llvm.fabs.{1}({0} {2})", float_, suffix_, x);
}

VectorCode::Reduced VectorCode::reduce(const IrValue& x) {
  const IrValue shifted = multiply_add(x, number(1.4426950408889634), number(kShift));
  const IrValue n = sub(shifted, number(kShift));
  const IrValue bits =
      out_.let("sub {} {}, {}", int_, as_bits(shifted), integer(0x4B400000));  // of kShift
  const IrValue high = multiply_add(neg(n), number(kLn2High), x);
  return {bits, multiply_add(neg(n), number(kLn2Low), high)};
}

IrValue VectorCode::power_of_two(const IrValue& n) {
  const IrValue biased = out_.let("add {} {}, {}", int_, n, integer(127));
  return as_float(out_.let("shl {} {}, {}", int_, biased, integer(23)));
}

IrValue VectorCode::relu(const IrValue& x) { return select_less(x, number(0), number(0), x); }

IrValue VectorCode::exp(const IrValue& x) {
  const auto [n, r] = reduce(clamp(x, -104, 89));
  const IrValue mantissa = multiply_add(r, polynomial(kExpTerms, r), number(1));
  // In two steps, because n passes the range of normal numbers at both ends.
  const IrValue half = out_.let("ashr {} {}, {}", int_, n, integer(1));
  const IrValue rest = out_.let("sub {} {}, {}", int_, n, half);
  return mul(mul(mantissa, power_of_two(half)), power_of_two(rest));
}

IrValue VectorCode::tanh(const IrValue& x) {
  const IrValue doubled = mul(magnitude(x), number(-2));
  const auto [n, r] = reduce(clamp(doubled, -40, 0));
  const IrValue scale = power_of_two(n);
  const IrValue expm1 =
      multiply_add(scale, mul(r, polynomial(kExpTerms, r)), sub(scale, number(1)));
  const IrValue value = div(expm1, add(number(2), expm1));
  return out_.let("call {0} @llvm.copysign.{1}({0} {2}, {0} {3})", float_, suffix_, value, x);
}

IrValue VectorCode::sigmoid(const IrValue& x) {
  return div(number(1), add(number(1), exp(neg(x))));
}

IrValue VectorCode::silu(const IrValue& x) { return div(x, add(number(1), exp(neg(x)))); }

IrValue VectorCode::normal_cdf(const IrValue& x) {
  const IrValue t =
      div(number(1), multiply_add(magnitude(x), number(0.35355339059327379), number(1)));
  const IrValue bell = exp(mul(mul(x, number(-0.5)), x));
  const IrValue tail = mul(mul(number(0.5), bell), mul(t, polynomial(kErfcTerms, t)));
  return select_less(x, number(0), tail, sub(number(1), tail));
}

IrValue VectorCode::gelu(const IrValue& x) { return mul(x, normal_cdf(x)); }

// x sigmoid(2u) with u = sqrt(2 / pi) (x + 0.044715 x^3).
IrValue VectorCode::gelu_tanh(const IrValue& x) {
  const IrValue cube = mul(mul(x, x), x);
  const IrValue inner = multiply_add(cube, number(0.044715), x);
  return div(x, add(number(1), exp(mul(inner, number(-1.5957691216057308)))));
}

}  // namespace epi::compiler
