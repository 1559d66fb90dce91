// SPDX-License-Identifier: Apache-2.0
// The checks that operators share. Each throws `Error` in the op's name.
#pragma once

#include <string_view>

#include "epilogue/tensor/tensor.h"

namespace epi {

// The tensor is there. Functions that take an optional tensor do not ask.
void check_defined(std::string_view op, const Tensor& x);
void check_floating(std::string_view op, const Tensor& x);
// Anything but bool.
void check_numeric(std::string_view op, const Tensor& x);
// Both are there, of one dtype, on one device.
void check_same_kind(std::string_view op, const Tensor& a, const Tensor& b);
// `size` with its one -1 computed from the others; it must hold as many elements as `x`.
Dims inferred_size(std::string_view op, const Tensor& x, const Dims& size);
void check_rank(std::string_view op, const Tensor& x, int rank);

}  // namespace epi
