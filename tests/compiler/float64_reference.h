// SPDX-License-Identifier: Apache-2.0
// Pointwise functions in f64 with a bound on the error of the same function in f32 arithmetic. The
// tolerance of a compiled result is derived from its operators.
#pragma once

#include "epilogue/tensor/tensor.h"

namespace epi::compiler {

// Values and, per element, the largest error of f32 arithmetic. Both tensors are f64.
struct Bounded {
  Tensor value;
  Tensor error;
};

// The elements of `x` without an error.
Bounded exact(const Tensor& x);

Bounded bounded_add(const Bounded& a, const Bounded& b, double alpha);
Bounded bounded_mul(const Bounded& a, const Bounded& b);
Bounded bounded_div(const Bounded& a, const Bounded& b);
Bounded bounded_neg(const Bounded& a);
Bounded bounded_relu(const Bounded& a);
Bounded bounded_exp(const Bounded& a);
Bounded bounded_rsqrt(const Bounded& a);
// For positive `a`.
Bounded bounded_pow(const Bounded& a, const Bounded& b);
// |f'| is at most `slope`. The error of its code is at most `ulps` ulp of the result plus `ulps`
// ulp of the argument.
Bounded bounded_smooth(Tensor (*f)(const Tensor&), double slope, double ulps, const Bounded& a);
// Adds the error of rounding to `dtype`.
Bounded bounded_rounded(DType dtype, const Bounded& a);

struct Verdict {
  int64_t outside = 0;  // elements with an error above their bound
  // Elements with a meaningful bound: finite and below 1 % of the
  // value or of one, whichever is larger.
  int64_t tested = 0;
  double worst = 0;  // largest error / bound
};
Verdict check_against(const Tensor& result, const Bounded& truth);

}  // namespace epi::compiler
