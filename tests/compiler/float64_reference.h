// SPDX-License-Identifier: Apache-2.0
// Pointwise functions in f64 beside a bound on the error that f32 arithmetic may make: how far a
// compiled result may lie from the truth follows from the operators, not from a guess.
#pragma once

#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

// A value, and how far f32 arithmetic may be from it, element by element; both f64.
struct Bounded {
  Tensor value;
  Tensor error;
};

// Elements of any dtype are exact.
Bounded exact(const Tensor& x);

Bounded bounded_add(const Bounded& a, const Bounded& b, double alpha);
Bounded bounded_mul(const Bounded& a, const Bounded& b);
Bounded bounded_div(const Bounded& a, const Bounded& b);
Bounded bounded_neg(const Bounded& a);
Bounded bounded_relu(const Bounded& a);
Bounded bounded_exp(const Bounded& a);
// f has a derivative of at most `slope`, and its code is right to `ulps` units of its result plus
// as many of its argument.
Bounded bounded_smooth(Tensor (*f)(const Tensor&), double slope, double ulps, const Bounded& a);
// Rounded to a dtype.
Bounded bounded_rounded(DType dtype, const Bounded& a);

// Elements that lie outside of their bound. `tested` counts those whose bound says something: it is
// finite and below 1 % of the value or of one, whichever is larger.
struct Verdict {
  int64_t outside = 0;
  int64_t tested = 0;
  double worst = 0;  // error over bound
};
Verdict check_against(const Tensor& result, const Bounded& truth);

}  // namespace epi::compiler
