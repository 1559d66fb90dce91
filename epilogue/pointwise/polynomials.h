// SPDX-License-Identifier: Apache-2.0
// exp, log, tanh, erf, sin, cos and pow as polynomials, for targets without a vector math library.
// They are branch-free, so that loops over them vectorize. Like functions.h, this file is included
// inside a target's namespace, which defines EPI_FN and these primitives in addition to those of
// functions.h:
//   Bits                       the result of to_bits: an unsigned integer or its IR equivalent
//   to_bits(x), from_bits<V>(n), shift_left(n, count), shift_right(n, count), which is arithmetic
//   to_number<V>(n)            the signed integer n as a number
//   copysign(x, sign), is_nan(x), sqrt(x)
//   Wide<V>                    f64 for V of f32; widened(x) and narrowed<V>(w) convert
// The coefficients are Chebyshev fits. Largest errors over [-100, 100]
// (tests/ops/pointwise_sweep_test.cpp): f32 exp 1 ulp, tanh, sigmoid and silu 3 ulp; f64 1 and 3
// ulp; gelu 3 ulp of x in f32, 16 in f64. sin, cos and pow of f32 compute in f64: at most 0.51 ulp,
// sin and cos for every finite argument. A target that uses them with f64 overloads them.

// For f32. A specialization for double follows.
template <class V>
struct Constants {
  static constexpr int kMantissa = 23;
  static constexpr int kBias = 127;
  static constexpr float kShift = 0x1.8p23F;       // adding it rounds to an integer in the low bits
  static constexpr float kExpLow = -104.0F;        // exp(x) is 0 below
  static constexpr float kExpHigh = 89.0F;         // exp(x) is infinite above
  static constexpr float kLn2High = 0x1.62E4p-1F;  // 15 bits: n * kLn2High is exact
  static constexpr float kLn2Low = 1.428606820e-06F;
  // expm1(r) / r for |r| <= ln(2) / 2, error 2.6e-10
  static constexpr float kExp[] = {0.0001990044147F,
                                   0.001394215983F,
                                   0.008333297067F,
                                   0.04166634014F,
                                   0.1666666672F,
                                   0.500000005F,
                                   1.0F};
  // erfc(z) = exp(-z^2) t P(t) for z >= 0 with t = 1 / (1 + z / 2), error 2.2e-9
  static constexpr float kErfc[] = {0.03239865218F,  -0.1716289015F, 0.332568661F,   -0.2189932848F,
                                    -0.08664944204F, 0.07456794739F, 0.03905751788F, 0.1897954688F,
                                    0.2444791095F,   0.2823184277F,  0.2820858459F};
  // erf(x) / x in x^2 for |x| <= 1, relative error 1.3e-9
  static constexpr float kErf[] = {7.8758750627e-5F, -8.0168642872e-4F, 5.1890874234e-3F,
                                   -0.026854212011F, 0.11283594715F,    -0.37612626667F,
                                   1.1283791658F};
  // (log((1 + s) / (1 - s)) - 2 s) / s^3 in s^2 for the mantissa in [sqrt(1/2), sqrt(2)]
  static constexpr float kLog[] = {0.23330467216F, 0.28550820816F, 0.40000121840F, 0.66666666554F};
  static constexpr float kSqrtHalf = 0.70710678118654752F;
  static constexpr float kSmallestNormal = 0x1p-126F;
  static constexpr float kScaleUp = 0x1p24F;  // makes subnormals normal
  static constexpr float kScaleExponent = 24;
};

template <>
struct Constants<double> {
  static constexpr int kMantissa = 52;
  static constexpr int kBias = 1023;
  static constexpr double kShift = 0x1.8p52;
  static constexpr double kExpLow = -746.0;
  static constexpr double kExpHigh = 710.0;
  static constexpr double kLn2High = 0x1.62E42FEFA0000p-1;  // 33 bits
  static constexpr double kLn2Low = 1.6465949582897082e-12;
  // as above, error 2.7e-19
  static constexpr double kExp[] = {2.091896183779577806e-9,
                                    2.511120325747113869e-8,
                                    2.755726102934376868e-7,
                                    2.755723773674059993e-6,
                                    0.00002480158733856534555,
                                    0.0001984126989304954516,
                                    0.001388888888887826895,
                                    0.008333333333318462265,
                                    0.04166666666666667782,
                                    0.1666666666666668229,
                                    0.5,
                                    1.0};
  // error 7.5e-17, or 1e-15 with rounding
  static constexpr double kErfc[] = {
      0.01999430294006659628, -0.2260728250293760224, 1.151114371447576095,
      -3.414799989005759602,  6.229790152075385657,   -6.104419990280525034,
      -0.8503153356911346895, 13.51585536526077479,   -24.4043442512718302,
      26.39302238293525984,   -19.89605677167382077,  11.1547121794202252,
      -4.962460018086699477,  1.781819366942318488,   -0.4305762732783500435,
      0.102651948600181636,   -0.0721687283495169015, -0.05416133239922824434,
      -0.0046842354072499982, 0.08376916044345450065, 0.1763079434432365622,
      0.2468329946583587753,  0.2820947905189102623,  0.2820947917877426304};
  // relative error 1.5e-19
  static constexpr double kErf[] = {
      5.9571761477489114e-11, -1.1372848856791674e-9, 1.4659775274047436e-8, -1.6350312701054695e-7,
      1.6461000484121368e-6,  -1.4925595266831182e-5, 1.2055331111642711e-4, -8.5483269808337899e-4,
      5.2239776248180145e-3,  -0.026866170645076793,  0.11283791670954879,   -0.37612638903183748,
      1.1283791670955126};
  static constexpr double kLog[] = {0.13086626147840102, 0.13268773138656885, 0.15386239702814658,
                                    0.18181795640132906, 0.22222222391713917, 0.28571428570803612,
                                    0.40000000000000877, 0.66666666666666666};
  static constexpr double kSqrtHalf = 0.70710678118654752;
  static constexpr double kSmallestNormal = 0x1p-1022;
  static constexpr double kScaleUp = 0x1p54;
  static constexpr double kScaleExponent = 54;
};

// Horner's scheme: the coefficient of the highest power comes first.
template <class V, class T, int N>
EPI_FN V polynomial(const T (&coefficients)[N], V x) {
  V sum = V(coefficients[0]);
  for (int i = 1; i < N; ++i) sum = fma(sum, x, V(coefficients[i]));
  return sum;
}

// Clamps x to [low, high]. NaN propagates: the comparisons are false for it.
template <class V>
EPI_FN V bounded(V x, V low, V high) {
  const V raised = select(x < low, low, x);
  return select(high < raised, high, raised);
}

// Range reduction: x = n ln 2 + r.
template <class V>
struct Reduced {
  Bits<V> n;
  V r;
};

template <class V>
EPI_FN Reduced<V> reduced(V x) {
  using C = Constants<V>;
  const V shifted = fma(x, V(1.4426950408889634), V(C::kShift));
  const V n = shifted - V(C::kShift);
  // Subtract the bits, which wrap: NaN gives an arbitrary n but no undefined behavior.
  const Bits<V> bits = to_bits(shifted) - to_bits(V(C::kShift));
  return {bits, fma(-n, V(C::kLn2Low), fma(-n, V(C::kLn2High), x))};
}

// 2^n for n within the range of normal numbers.
template <class V>
EPI_FN V power_of_two(Bits<V> n) {
  return from_bits<V>(shift_left(n + Bits<V>(Constants<V>::kBias), Constants<V>::kMantissa));
}

template <class V>
EPI_FN V exp_above(V x, V low) {  // exp(max(x, low))
  using C = Constants<V>;
  const Reduced<V> parts = reduced(bounded(x, low, V(C::kExpHigh)));
  const V mantissa = fma(parts.r, polynomial(C::kExp, parts.r), V(1));
  // Scale in two steps: at both ends of the range, 2^n is not a normal number.
  const Bits<V> half = shift_right(parts.n, 1);
  return mantissa * power_of_two<V>(half) * power_of_two<V>(parts.n - half);
}

template <class V>
EPI_FN V exp(V x) {
  return exp_above(x, V(Constants<V>::kExpLow));
}

// exp(x) - 1 for x in [kExpLow, 0], without cancellation near 0.
template <class V>
EPI_FN V expm1_of_negative(V x) {
  const Reduced<V> parts = reduced(x);
  const V scale = power_of_two<V>(parts.n);
  return fma(scale, parts.r * polynomial(Constants<V>::kExp, parts.r), scale - V(1));
}

template <class V>
EPI_FN V tanh(V x) {
  // Above 20 the result is 1 in both types. The bound keeps 2^n normal.
  const V e = expm1_of_negative(bounded(abs(x) * V(-2), V(-40), V(0)));
  return copysign(e / (V(2) + e), x);
}

template <class V>
EPI_FN V over_one_plus_exp(V x, V u) {
  // Below -38, 1 + exp(u) is 1 in both types. The bound avoids subnormal numbers, which x86 CPUs
  // handle in microcode.
  return x / (V(1) + exp_above(u, V(-40)));
}

template <class V>
EPI_FN V normal_cdf(V x) {
  const V t = V(1) / fma(abs(x), V(0.35355339059327379), V(1));
  const V tail = V(0.5) * exp(x * V(-0.5) * x) * (t * polynomial(Constants<V>::kErfc, t));
  return select(x < V(0), tail, V(1) - tail);
}

template <class V>
EPI_FN V erf(V x) {
  const V magnitude = abs(x);
  const V t = V(1) / fma(magnitude, V(0.5), V(1));
  const V tail = exp(-(x * x)) * (t * polynomial(Constants<V>::kErfc, t));
  const V small = x * polynomial(Constants<V>::kErf, x * x);
  return select(magnitude < V(1), small, copysign(V(1) - tail, x));
}

// NaN below 0, -inf at 0, inf at inf.
template <class V>
EPI_FN V log(V x) {
  using C = Constants<V>;
  const auto subnormal = x < V(C::kSmallestNormal);
  const V scaled = select(subnormal, x * V(C::kScaleUp), x);
  // x = 2^n m with m in [sqrt(1/2), sqrt(2)).
  const Bits<V> bits = to_bits(scaled);
  const Bits<V> n = shift_right(bits - to_bits(V(C::kSqrtHalf)), C::kMantissa);
  const V m = from_bits<V>(bits - shift_left(n, C::kMantissa));
  const V exponent = to_number<V>(n) - select(subnormal, V(C::kScaleExponent), V(0));
  const V s = (m - V(1)) / (m + V(1));
  const V z = s * s;
  const V log_m = fma(s * z, polynomial(C::kLog, z), s + s);
  const V value = fma(exponent, V(C::kLn2High), fma(exponent, V(C::kLn2Low), log_m));
  // The bit manipulation is not valid for 0, negative numbers, inf and NaN.
  const V infinity = V(1) / V(0);
  const V above = select(x < infinity, value, x);
  const V below = select(x < V(0), infinity - infinity, -infinity);
  return select(V(0) < x, above, select(is_nan(x), x, below));
}

// log(1 + x), corrected for the rounding error of 1 + x.
template <class V>
EPI_FN V log1p(V x) {
  const V u = V(1) + x;
  const V lost = (x - (u - V(1))) / u;
  return select(is_nan(lost), log(u), log(u) + lost);
}

template <class V>
EPI_FN V rsqrt(V x) {
  return V(1) / sqrt(x);
}

// --- f32 functions that compute in f64, which saves arithmetic on pairs of f32. ------------------

// Rounds to the nearest integer. Larger numbers are integers.
template <class W>
EPI_FN W nearest(W x) {
  const W shift = W(0x1.8p52);
  return select(abs(x) < W(0x1p51), (x + shift) - shift, x);
}

// The bits of 1 / pi in parts of 28 bits. An f32 times a part is exact in f64. 128 bits before the
// binary point and 75 after it suffice for the largest f32.
template <class W>
struct OneOverPi {
  static constexpr int kParts = 7;
  static constexpr double kPart[kParts] = {0x1.45f306cp-2,  0x1.c9c882ap-30,  0x1.4fe13aap-60,
                                           0x1.e8fa9a6p-88, 0x1.dc0db62p-117, 0x1.2b32788p-146,
                                           0x1.c820ff2p-176};
  // sin(pi f) / f in f^2 for |f| <= 1/2, error 5.4e-11
  static constexpr double kSin[] = {-0.00702830385520309599, 0.08205035020147247515,
                                    -0.5992521865315829804,  2.550163317938426908,
                                    -5.167712764593000019,   3.141592653536132031};
};

// p minus the nearest multiple of 2, for p with at most 52 bits: such a p of 2^52 or more is a
// multiple of 2.
template <class W>
EPI_FN W without_turns(W p) {
  const W shift = W(0x1.8p53);
  return select(abs(p) < W(0x1p52), p - ((p + shift) - shift), W(0));
}

// sin(x + pi shift), where x is an f32 and `shift` is -0, which keeps the sign of 0, or 1/2. x / pi
// + shift is split into an integer and a fraction without an error: whole turns are dropped from
// each partial product, and the rest is summed from the largest to the smallest.
template <class W>
EPI_FN W sin_of_f32(W x, W shift) {
  using C = OneOverPi<W>;
  W rest = without_turns(x * W(C::kPart[0]));
  W total = rest;
  for (int i = 1; i < C::kParts; ++i) total = total + without_turns(x * W(C::kPart[i]));
  const W half_turns = nearest(total + shift);
  rest = (rest - half_turns) + shift;
  for (int i = 1; i < C::kParts; ++i) rest = rest + without_turns(x * W(C::kPart[i]));
  const W parity = half_turns - W(2) * nearest(half_turns * W(0.5));  // -1, 0 or 1
  const W sign = fma(parity * parity, W(-2), W(1));
  const W value = sign * (rest * polynomial(C::kSin, rest * rest));
  return select(abs(x) < W(1) / W(0), value, x - x);
}

template <class V>
EPI_FN V sin(V x) {
  return narrowed<V>(sin_of_f32(widened(x), Wide<V>(-0.0)));
}

template <class V>
EPI_FN V cos(V x) {
  return narrowed<V>(sin_of_f32(widened(x), Wide<V>(0.5)));
}

// The power of a base with a sign, -0 included, given the power of its magnitude.
template <class W>
EPI_FN W power_of_negative(W base, W exponent, W power) {
  const W infinity = W(1) / W(0);
  const W half = exponent * W(0.5);
  const auto is_fraction = W(0) < abs(exponent - nearest(exponent));
  const auto is_odd = W(0) < abs(half - nearest(half));  // if it is an integer
  const W of_finite = select(base < W(0), infinity - infinity, power);
  const W of_fraction = select(-infinity < base, of_finite, power);
  const W of_integer = select(is_odd, -power, power);
  return select(is_nan(exponent), exponent, select(is_fraction, of_fraction, of_integer));
}

// exp(y log |x|) in f64, whose error is at most 104 times that of the logarithm: 2^-45.
template <class V>
EPI_FN V power(V x, V y) {
  using W = Wide<V>;
  const W base = widened(x);
  const W exponent = widened(y);
  const W log_base = log(abs(base));
  // A logarithm of 0 stays 0 if the exponent is infinite.
  const W power = exp(select(W(0) < abs(log_base), exponent * log_base, log_base));
  const auto is_negative = copysign(W(1), base) < W(0);
  const W value = select(is_negative, power_of_negative(base, exponent, power), power);
  const W of_zero = select(is_nan(exponent), value, W(1));
  return narrowed<V>(select(W(0) < abs(exponent), value, of_zero));
}
