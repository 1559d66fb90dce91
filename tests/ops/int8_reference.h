// SPDX-License-Identifier: Apache-2.0
// References of GEMMs with int8 weights. They take the quantized input from the library, which
// int8_test.cpp checks on its own, and multiply in 64-bit integers.
#pragma once

#include "tests/ops/reference.h"

namespace epi {

// A weight [n, k] with one scale per row, or one per group of 32.
struct RandomInt8 {
  Tensor values;
  Tensor scale;
};
// Values from -128 to 127. With `exact`, scales are powers of two.
RandomInt8 random_int8(int64_t n, int64_t k, bool in_groups, uint64_t seed, bool exact = false);

// Rows [m, k] for which no step rounds: whole numbers times a power of two, with 127 in each group.
Tensor exact_int8_rows(int64_t m, int64_t k);

namespace ref {

// scale * values.
RefTensor dequantized(const RandomInt8& weight);
// x @ dequantized.t(), where x [m, k] is quantized first if `int8_input` is true.
RefTensor int8_mm(const Tensor& x, const RandomInt8& weight, bool int8_input);

}  // namespace ref
}  // namespace epi
