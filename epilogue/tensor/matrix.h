// SPDX-License-Identifier: Apache-2.0
// A 2-d tensor as a GEMM reads it.
#pragma once

#include <cstdint>
#include <optional>

#include "epilogue/tensor/tensor.h"

namespace epi {

// A matrix that a GEMM reads without a copy: row-major, or column-major (`transposed`), with `ld`
// elements from one row (or column) to the next.
struct Matrix {
  const std::byte* data = nullptr;
  int64_t ld = 0;
  bool transposed = false;
};
// None where neither order fits the strides of the 2-d tensor `x`, or layout; of a layout, without
// data.
std::optional<Matrix> as_matrix(const Tensor& x);
std::optional<Matrix> as_matrix(const Layout& layout);

// The first matrix of the 3-d tensor `x`.
Tensor first_matrix(const Tensor& x);

}  // namespace epi
