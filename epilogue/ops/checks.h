// SPDX-License-Identifier: Apache-2.0
// Argument checks shared by the operators. Each throws `Error` with the name of the op.
#pragma once

#include <string_view>

#include "epilogue/tensor/tensor.h"

namespace epi {

// Fails for an undefined tensor. Not for optional arguments.
void check_defined(std::string_view op, const Tensor& x);
void check_floating(std::string_view op, const Tensor& x);
// Accepts every dtype except bool and i8.
void check_numeric(std::string_view op, const Tensor& x);
// Both are defined and have the same dtype and device.
void check_same_kind(std::string_view op, const Tensor& a, const Tensor& b);
void check_same_device(std::string_view op, const Tensor& a, const Tensor& b);
// `size` with a single -1 replaced by the inferred size. The result must have the number of
// elements of `x`.
Dims inferred_size(std::string_view op, const Tensor& x, const Dims& size);
void check_rank(std::string_view op, const Tensor& x, int rank);

}  // namespace epi
